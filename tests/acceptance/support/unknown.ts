/** The shape of a sandbox's id, but of no sandbox. */
export const unknownSandboxId = 'i00000000000000000000'
