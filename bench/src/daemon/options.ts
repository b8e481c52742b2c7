import { access, constants } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

export interface Options {
  /** Names of rows; empty for all. */
  readonly rows: readonly string[]
  /** Absolute path of another daemon's binary that takes the same flags as ours. */
  readonly reference: string | undefined
  /** Absolute path of a distribution of our daemon; undefined to build the current sources. */
  readonly dist: string | undefined
  readonly json: string | undefined
  readonly rounds: number
}

/** @throws Error that says what is wrong and shows the usage */
export async function readOptions(argv: readonly string[], names: readonly string[]): Promise<Options> {
  const usage = `usage: npm run bench:daemon -- [--reference BINARY] [--dist DIRECTORY] [--rounds N] [--json FILE] [${names.join('|')}] ...`
  // npm removes the `--`, a direct call of tools/run does not.
  const args = argv.filter((arg, index) => index > 0 || arg !== '--')
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      reference: { type: 'string' },
      dist: { type: 'string' },
      json: { type: 'string' },
      rounds: { type: 'string', default: '1' },
    },
  })
  const unknown = positionals.find((name) => !names.includes(name))
  if (unknown !== undefined) throw new Error(`there is no benchmark "${unknown}".\n${usage}`)
  const rounds = Number(values.rounds)
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 20) throw new Error(`--rounds is a number from 1 to 20.\n${usage}`)
  const reference = values.reference === undefined ? undefined : resolve(values.reference)
  if (reference !== undefined) {
    await access(reference, constants.X_OK).catch(() => {
      throw new Error(`${reference} is not a program that this account may run.\n${usage}`)
    })
  }
  const dist = values.dist === undefined ? undefined : resolve(values.dist)
  return { rows: positionals.length > 0 ? positionals : names, reference, dist, json: values.json, rounds }
}
