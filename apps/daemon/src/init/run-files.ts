import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface RunFileOptions {
  /** `/run/e2b` in a sandbox. */
  readonly directory: string
  readonly sandboxId: string | undefined
  readonly templateId: string | undefined
  readonly buildId: string | undefined
  /** `/` in a sandbox. */
  readonly systemRoot: string
}

/** Tells programs in the sandbox where they run (envd.md 1.3, control-plane.md 11.6). Nothing of the daemon depends on the files. */
export function writeRunFiles({ directory, sandboxId, templateId, buildId, systemRoot }: RunFileOptions): void {
  mkdirSync(directory, { recursive: true, mode: 0o755 })
  writeRunFile(join(directory, '.E2B_SANDBOX'), 'true', 0o444)
  if (sandboxId !== undefined) writeRunFile(join(directory, '.E2B_SANDBOX_ID'), sandboxId, 0o644)
  if (templateId !== undefined) writeRunFile(join(directory, '.E2B_TEMPLATE_ID'), templateId, 0o644)
  if (templateId === undefined || buildId === undefined) return
  // Written here and not at the end of a build: builds share images.
  writeRunFile(join(systemRoot, '.e2b'), `ENV_ID=${templateId}\nTEMPLATE_ID=${templateId}\nBUILD_ID=${buildId}\n`, 0o644)
}

/** Removes the path first: an image made from a sandbox may have old files or links of its users there. */
function writeRunFile(path: string, text: string, mode: number): void {
  rmSync(path, { recursive: true, force: true })
  writeFileSync(path, text, { flag: 'wx', mode })
  chmodSync(path, mode)
}
