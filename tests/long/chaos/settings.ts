import { parseArgs } from 'node:util'

/** What one run of the drill does. */
export interface ChaosSettings {
  readonly seed: number
  /** The run ends after so many operations ... */
  readonly operations: number
  /** ... or after so many seconds, whichever comes first. */
  readonly seconds: number
  /** Clients that work at the same time, each on its own sandboxes. */
  readonly clients: number
  /** A part is killed after so many operations on average. */
  readonly killEvery: number
  /** Runs on a second engine, which is killed too. */
  readonly engine: boolean
  /** Keeps the folder with the logs of the parts. */
  readonly keep: boolean
}

/** The run of `npm test`: the same operations and kills every time, as far as the order of concurrent answers allows. */
const SLICE: ChaosSettings = { seed: 15, operations: 110, seconds: 30, clients: 4, killEvery: 20, engine: false, keep: false }

/** @throws TypeError for an unknown flag, Error for a value that is not a positive number */
export function parseSettings(args: readonly string[]): ChaosSettings {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean', default: false } as const
  const { values } = parseArgs({
    args: [...args],
    options: { seed: text, operations: text, seconds: text, clients: text, 'kill-every': text, engine: flag, keep: flag, slice: flag },
  })
  if (values.slice) return SLICE
  return {
    seed: numberOf(values.seed, Math.floor(Math.random() * 2 ** 31)),
    operations: numberOf(values.operations, 10_000),
    seconds: numberOf(values.seconds, Number.MAX_SAFE_INTEGER),
    clients: numberOf(values.clients, 6),
    killEvery: numberOf(values['kill-every'], 12),
    engine: values.engine,
    keep: values.keep,
  }
}

function numberOf(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`${text} is not a positive number`)
  return value
}
