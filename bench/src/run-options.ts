import { access, constants } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Outputs } from './results-file.ts'

export interface RunOptions extends Outputs {
  /** The benchmarks to run, in the given order. */
  readonly names: readonly string[]
  /** A file of an earlier run: nothing is measured. */
  readonly from: string | undefined
  /** Absolute path of another daemon's binary. */
  readonly reference: string | undefined
  /** How often `churn` creates a sandbox, and how many run in `density`. */
  readonly count: number | undefined
}

const MOST = 10_000

/** @throws Error that says what is wrong and shows the usage */
export async function readRunOptions(script: string, known: readonly string[]): Promise<RunOptions> {
  const usage = `usage: npm run ${script} -- [--json FILE] [--html FILE] [--from FILE] [--reference BINARY] [--count N] [${known.join('|')}] ...`
  // npm removes the `--`, a direct call of tools/run does not.
  const args = process.argv.slice(2).filter((arg, index) => index > 0 || arg !== '--')
  const text = { type: 'string' } as const
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { json: text, html: text, from: text, reference: text, count: text },
  })
  const unknown = positionals.find((name) => !known.includes(name))
  if (unknown !== undefined) throw new Error(`there is no benchmark "${unknown}".\n${usage}`)
  const { json, html, from } = values
  if (from !== undefined && html === undefined) throw new Error(`--from needs --html.\n${usage}`)
  const reference = values.reference === undefined ? undefined : resolve(values.reference)
  if (reference !== undefined) {
    await access(reference, constants.X_OK).catch(() => {
      throw new Error(`${reference} is not a program that this account may run.\n${usage}`)
    })
  }
  const count = values.count === undefined ? undefined : Number(values.count)
  if (count !== undefined && !(Number.isInteger(count) && count > 0 && count <= MOST))
    throw new Error(`--count is a number from 1 to ${MOST}.\n${usage}`)
  return { names: positionals.length > 0 ? positionals : known, json, html, from, reference, count }
}
