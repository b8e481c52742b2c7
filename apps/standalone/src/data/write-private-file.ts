import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs'

/** Writes a file that only its owner reads, whole or not at all: a kill at any instant leaves the old file or the new one. */
export function writePrivateFile(file: string, text: string): void {
  const draft = `${file}.new`
  const descriptor = openSync(draft, 'w', 0o600)
  try {
    writeSync(descriptor, text)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(draft, file)
}
