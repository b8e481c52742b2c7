/** The version that clients and the control plane read their feature gates from (envd.md 11). */
export const DAEMON_VERSION = '0.6.13'
