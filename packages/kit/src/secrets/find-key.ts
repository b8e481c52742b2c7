import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { ConfigError, parseConfig, type Environment } from '../config/parse-config.ts'
import { KEY_SETTINGS, KEY_SOURCE_SETTINGS } from './key-settings.ts'

const TIMEOUT_MS = 10_000
const MAX_BYTES = 4096

const { env: KEY } = KEY_SETTINGS.secretsKey
const { env: COMMAND } = KEY_SOURCE_SETTINGS.secretsKeyCommand
const { env: MADE } = KEY_SOURCE_SETTINGS.secretsKeyPath

/**
 * The environment with the key of secrets in SANDYARD_SECRETS_KEY: as it is set there or in a file, else what the operator's command prints,
 * else what the file has that a server makes. Without any of them it has none.
 *
 * @param ownFile where that file is when no setting says so
 * @throws ConfigError when the command fails, prints nothing or takes longer than 10 s, or a file cannot be read. No output is quoted
 */
export async function findKey(environment: Environment, ownFile?: string): Promise<Environment> {
  const { secretsKeyCommand: command } = parseConfig(KEY_SOURCE_SETTINGS, environment)
  const isGiven = hasKey(environment)
  if (command !== undefined && isGiven) throw new ConfigError([`${COMMAND} and ${KEY} are both set: keep one`])
  if (isGiven) return environment
  const key = command === undefined ? readMadeKey(madeKeyFile(environment, ownFile)) : await run(command)
  const { [COMMAND]: _command, ...others } = environment
  return key === undefined ? others : { ...others, [KEY]: key }
}

/** Whether the key itself is set, or a file that has it. */
export function hasKey(environment: Environment): boolean {
  return [KEY, `${KEY}_FILE`].some((name) => (environment[name] ?? '') !== '')
}

/** The settings of an environment that the key ring is made of, for a program that needs the key. */
export function keyVariables(environment: Environment): Environment {
  const names = Object.values(KEY_SETTINGS).flatMap(({ env }) => [env, `${env}_FILE`])
  return Object.fromEntries(names.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])))
}

/** Where a server makes the key. */
export function madeKeyFile(environment: Environment, ownFile: string): string
export function madeKeyFile(environment: Environment, ownFile: string | undefined): string | undefined
export function madeKeyFile(environment: Environment, ownFile: string | undefined): string | undefined {
  const given = environment[MADE]
  return given === undefined || given === '' ? ownFile : given
}

/** Undefined when no server has made it. */
function readMadeKey(file: string | undefined): string | undefined {
  if (file === undefined) return undefined
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (err) {
    const { code } = err as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new ConfigError([`${MADE}: the file ${file} cannot be read (${String(code)})`])
  }
}

async function run(command: string): Promise<string> {
  const [program = '', ...args] = command.trim().split(/\s+/)
  const options = { timeout: TIMEOUT_MS, killSignal: 'SIGKILL', maxBuffer: MAX_BYTES, encoding: 'utf8' } as const
  const { stdout } = await promisify(execFile)(program, args, options).catch((err: unknown) => {
    throw new ConfigError([`${COMMAND} ${problemOf(err)}`])
  })
  const key = stdout.trim()
  if (key === '') throw new ConfigError([`${COMMAND} printed nothing`])
  return key
}

/** Without what the program wrote, which may be secret. */
function problemOf(err: unknown): string {
  const { code, signal, killed } = err as { readonly code?: unknown; readonly signal?: unknown; readonly killed?: unknown }
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return `printed more than ${MAX_BYTES} bytes`
  if (killed === true) return `took longer than ${TIMEOUT_MS / 1000} s`
  return typeof code === 'number' ? `ended with the exit code ${code}` : `failed: ${String(code ?? signal)}`
}
