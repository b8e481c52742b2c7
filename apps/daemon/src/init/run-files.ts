import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface RunFileOptions {
  /** `/run/e2b` in a sandbox. */
  readonly directory: string
  readonly sandboxId: string | undefined
  readonly templateId: string | undefined
}

/** Tells programs in the sandbox where they run (envd.md 1.3). Nothing of the daemon depends on the files. */
export async function writeRunFiles({ directory, sandboxId, templateId }: RunFileOptions): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o755 })
  await Promise.all([
    writeRunFile(join(directory, '.E2B_SANDBOX'), 'true', 0o444),
    sandboxId === undefined ? undefined : writeRunFile(join(directory, '.E2B_SANDBOX_ID'), sandboxId, 0o644),
    templateId === undefined ? undefined : writeRunFile(join(directory, '.E2B_TEMPLATE_ID'), templateId, 0o644),
  ])
}

/** An image made from a sandbox still has the files of that sandbox, and whoever ran there may have put links in their place. */
async function writeRunFile(path: string, text: string, mode: number): Promise<void> {
  await rm(path, { recursive: true, force: true })
  await writeFile(path, text, { flag: 'wx', mode })
  await chmod(path, mode)
}
