import { fchmodSync, fchownSync, openSync, closeSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'

export interface NewFile {
  readonly text: string
  /** For a new file; an existing one keeps mode and owner. */
  readonly mode: number
}

/** Replaces a file atomically, at the target of its links. Text has one character for each byte. */
export function replaceFile(path: string, { text, mode }: NewFile): void {
  const existing = statSync(path, { throwIfNoEntry: false })
  const target = existing === undefined ? path : realpathSync(path)
  const temp = `${target}.sandyard-${process.pid}`
  rmSync(temp, { force: true })
  const file = openSync(temp, 'wx', 0o600)
  try {
    writeFileSync(file, text, 'latin1')
    fchownSync(file, existing?.uid ?? 0, existing?.gid ?? 0)
    fchmodSync(file, existing?.mode ?? mode)
    renameSync(temp, target)
  } catch (error) {
    rmSync(temp, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
}
