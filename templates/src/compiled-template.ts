/** What `compile-main.ts` writes into its folder as `template.json`, beside the archives of the COPY steps. */
export interface CompiledTemplate {
  readonly fromImage: string | undefined
  readonly fromTemplate: string | undefined
  readonly steps: readonly CompiledStep[]
  readonly startCmd: string | undefined
  readonly readyCmd: string | undefined
  readonly archives: readonly CompiledArchive[]
}

export interface CompiledStep {
  readonly type: string
  readonly args: readonly string[]
  readonly force: boolean
  /** The key of the archive of a COPY step: lower-case hexadecimal SHA-256. */
  readonly filesHash: string | undefined
}

/** A tar archive in the folder, named after its hash. */
export interface CompiledArchive {
  readonly hash: string
  readonly file: string
}

export const COMPILED_FILE = 'template.json'
