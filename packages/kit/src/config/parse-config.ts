/** Written by hand: `env-schema` has no durations, sizes, secrets or `NAME_FILE`, and reports problems without the setting's documentation. */
import { readFileSync } from 'node:fs'
import { Secret } from './secret.ts'
import { parseDurationMs, parseSizeBytes } from './units.ts'

/** One setting: its environment variable, its parser, its default and a line of documentation. */
export interface Setting<T> {
  readonly env: string
  readonly doc: string
  readonly kind: 'text' | 'port' | 'integer' | 'boolean' | 'duration' | 'size' | 'share' | 'list' | 'secret'
  readonly read: (text: string) => T | undefined
  /** What its text must be, for the message about another one. */
  readonly form: string
  readonly fallback: T | undefined
  /** The default as a user writes it, where its kind does not tell. */
  readonly written: string | undefined
  readonly required: boolean
}

type Options<T> = { readonly default?: T | undefined; readonly written?: string; readonly doc: string }
type Form<T> = Pick<Setting<T>, 'kind' | 'read' | 'form'>

function setting<T>(env: string, form: Form<T>, options: Options<T>): Setting<T> {
  const { doc, default: fallback, written } = options
  return { env, doc, ...form, fallback, written, required: !('default' in options) }
}

/** Why the text of a setting cannot be used; the message continues a sentence that begins with the setting's name. It must not quote a secret. */
export class SettingProblem extends Error {
  override readonly name = 'SettingProblem'
}

/** The parts of a list with commas, without spaces around them and without empty ones. */
export function readList(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

const readInteger = (text: string): number | undefined => (/^-?\d+$/.test(text) ? Number(text) : undefined)
const readCount = (text: string): number | undefined => (/^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined)
const readLimit = (text: string): number | undefined => (text === '0' ? 0 : readCount(text))
const readShare = (text: string): number | undefined => (/^(0(\.\d+)?|1(\.0+)?)$/.test(text) ? Number(text) : undefined)
const readPort = (text: string): number | undefined => {
  const port = readInteger(text)
  return port !== undefined && port >= 0 && port <= 65_535 ? port : undefined
}
const BOOLEANS: Record<string, boolean> = { true: true, '1': true, yes: true, false: false, '0': false, no: false }

const TEXT: Form<string> = { kind: 'text', form: 'a text', read: (text) => text }
const PORT: Form<number> = { kind: 'port', form: 'a port from 0 to 65535', read: readPort }
const INTEGER: Form<number> = { kind: 'integer', form: 'a whole number', read: readInteger }
const COUNT: Form<number> = { kind: 'integer', form: 'a whole number above 0', read: readCount }
const LIMIT: Form<number> = { kind: 'integer', form: 'a whole number, or 0 for no limit', read: readLimit }
const BOOLEAN: Form<boolean> = { kind: 'boolean', form: 'true or false', read: (text) => BOOLEANS[text.toLowerCase()] }
const DURATION: Form<number> = { kind: 'duration', form: 'a duration such as 30s, 5m or 2h', read: parseDurationMs }
const SIZE: Form<number> = { kind: 'size', form: 'a size such as 512MiB or 2GiB', read: parseSizeBytes }
const SHARE: Form<number> = { kind: 'share', form: 'a number from 0 to 1', read: readShare }
const LIST: Form<readonly string[]> = { kind: 'list', form: 'a list with commas', read: readList }
const SECRET: Form<Secret> = { kind: 'secret', form: 'a text', read: (text) => new Secret(text) }

/** Builders of settings. A setting without a `default` is required. */
export const env = {
  text: (name: string, options: Options<string>) => setting(name, TEXT, options),
  port: (name: string, options: Options<number>) => setting(name, PORT, options),
  integer: (name: string, options: Options<number>) => setting(name, INTEGER, options),
  /** A whole number above zero. */
  count: (name: string, options: Options<number>) => setting(name, COUNT, options),
  /** A whole number; 0 is no limit. */
  limit: (name: string, options: Options<number>) => setting(name, LIMIT, options),
  boolean: (name: string, options: Options<boolean>) => setting(name, BOOLEAN, options),
  /** Milliseconds, written as `30s`, `5m`. */
  duration: (name: string, options: Options<number>) => setting(name, DURATION, options),
  /** Bytes, written as `512MiB`. */
  size: (name: string, options: Options<number>) => setting(name, SIZE, options),
  /** A number from 0 to 1. */
  share: (name: string, options: Options<number>) => setting(name, SHARE, options),
  /** Comma-separated; empty parts are dropped. */
  list: (name: string, options: Options<readonly string[]>) => setting(name, LIST, options),
  secret: (name: string, options: Options<Secret>) => setting(name, SECRET, options),
  /** A value of another form. `read` throws a SettingProblem. A `secret` is withheld from child processes and never quoted. */
  checked: <T>(name: string, read: (text: string) => T, options: Options<T> & { readonly kind: 'text' | 'secret' }) =>
    setting(name, { kind: options.kind, form: 'a text', read }, options),
}

export type ConfigSchema = Readonly<Record<string, Setting<unknown>>>
export type ConfigOf<S extends ConfigSchema> = { readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never }
export type Environment = Readonly<Record<string, string | undefined>>

/** All problems of an environment in one error, so that the user can fix them together. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`The configuration is not valid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
    this.problems = problems
  }
}

/**
 * Reads every setting from `environment` and returns a frozen object. `NAME_FILE` names a file that contains the
 * value of `NAME` (Docker secrets); one trailing newline of the file is dropped.
 *
 * @throws ConfigError that lists every problem
 */
export function parseConfig<S extends ConfigSchema>(schema: S, environment: Environment): ConfigOf<S> {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(schema)) {
    const text = readText(item, environment, problems)
    if (text === undefined || text === '') {
      if (item.required) problems.push(`${item.env} is required: ${item.doc}`)
      values[key] = item.fallback
      continue
    }
    const value = readValue(item, text, problems)
    if (value === PROBLEM) continue
    if (value === undefined) problems.push(`${item.env} must be ${item.form}${item.kind === 'secret' ? '' : `, not "${text}"`}`)
    values[key] = value
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.freeze(values) as ConfigOf<S>
}

const PROBLEM = Symbol('problem')

function readValue(item: Setting<unknown>, text: string, problems: string[]): unknown {
  try {
    return item.read(text)
  } catch (err) {
    if (!(err instanceof SettingProblem)) throw err
    problems.push(`${item.env} ${err.message}`)
    return PROBLEM
  }
}

function readText(item: Setting<unknown>, environment: Environment, problems: string[]): string | undefined {
  const direct = environment[item.env]
  if (direct !== undefined) return direct
  const file = environment[`${item.env}_FILE`]
  if (file === undefined) return undefined
  try {
    return readFileSync(file, 'utf8').replace(/\n$/, '')
  } catch {
    problems.push(`${item.env}_FILE names a file that cannot be read: ${file}`)
    return undefined
  }
}
