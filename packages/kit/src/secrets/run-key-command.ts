import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { ConfigError, parseConfig, type Environment } from '../config/parse-config.ts'
import { KEY_COMMAND_SETTING, KEY_SETTINGS } from './key-settings.ts'

const TIMEOUT_MS = 10_000
const MAX_BYTES = 4096

const { env: KEY } = KEY_SETTINGS.secretsKey
const { env: COMMAND } = KEY_COMMAND_SETTING.secretsKeyCommand

/**
 * Runs the operator's command that prints the key of secrets, if one is set. The answer is the environment with the key in the place of
 * the command.
 *
 * @throws ConfigError when the command fails, prints nothing or takes longer than 10 s; its output is never quoted
 */
export async function runKeyCommand(environment: Environment): Promise<Environment> {
  const { secretsKeyCommand: command } = parseConfig(KEY_COMMAND_SETTING, environment)
  if (command === undefined || command.trim() === '') return environment
  if (environment[KEY] !== undefined || environment[`${KEY}_FILE`] !== undefined) {
    throw new ConfigError([`${COMMAND} and ${KEY} are both set: keep one`])
  }
  const key = await run(command)
  const { [COMMAND]: _command, [`${COMMAND}_FILE`]: _file, ...others } = environment
  return { ...others, [KEY]: key }
}

async function run(command: string): Promise<string> {
  const [program = '', ...args] = command.trim().split(/\s+/)
  const options = { timeout: TIMEOUT_MS, killSignal: 'SIGKILL', maxBuffer: MAX_BYTES, encoding: 'utf8' } as const
  let stdout: string
  try {
    ;({ stdout } = await promisify(execFile)(program, args, options))
  } catch (err) {
    throw new ConfigError([`${COMMAND} ${problemOf(err)}`])
  }
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
