/** A valid sandbox id that belongs to no sandbox. */
export const unknownSandboxId = 'i00000000000000000000'
