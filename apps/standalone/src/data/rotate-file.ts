import { renameSync, statSync } from 'node:fs'

/** Moves a file that has grown past `maxBytes` to `<file>.1`, over the one before it. */
export function rotateFile(file: string, maxBytes: number): void {
  try {
    if (statSync(file).size > maxBytes) renameSync(file, `${file}.1`)
  } catch {
    // There is no such file yet.
  }
}
