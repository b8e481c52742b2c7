/** The version that the daemon in sandboxes reports; clients select features by it (design.md 3a). */
export const ENVD_VERSION = '0.6.13'
