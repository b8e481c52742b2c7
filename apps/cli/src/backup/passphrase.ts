import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Secret } from '@sandyard/kit/config/secret'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'

export const PASSPHRASE_OPTION = ['--passphrase-file <file>', 'file with the passphrase of an encrypted backup'] as const

/** The text of the file (relative to `cwd`) without the end of its line. @throws CliFailure for a file that cannot be read or is empty */
export function readPassphrase(name: string | undefined, cwd: string): Secret | undefined {
  if (name === undefined) return undefined
  const file = resolve(cwd, name)
  let text: string
  try {
    text = readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch (cause) {
    throw new CliFailure(EXIT.usage, `The file with the passphrase cannot be read (${(cause as NodeJS.ErrnoException).code}): ${file}.`, {
      cause,
    })
  }
  if (text === '') throw new CliFailure(EXIT.usage, `The file with the passphrase is empty: ${file}.`)
  return new Secret(text)
}
