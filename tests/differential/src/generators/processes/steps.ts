import type { Scenario } from '../../scenario.ts'
import type { Call, Output, ProcessMethod, Script, ScriptStep } from '../../script/script.ts'
import { basic } from '../../wire/rpc.ts'

type Options = Omit<Call, 'method' | 'message'>

export type Codec = 'json' | 'proto'
export const CODECS: readonly Codec[] = ['json', 'proto']

export interface Command {
  readonly cmd?: string
  readonly args?: readonly string[]
  readonly envs?: Readonly<Record<string, string>>
  readonly cwd?: string | null
}

/** A script that changes no file. */
export function reading(area: string, script: Script): Scenario {
  return { area, steps: [{ kind: 'script', script, isRead: true }] }
}

export function sh(script: string, ...args: readonly string[]): Command {
  return { cmd: '/bin/sh', args: ['-c', script, ...args] }
}

/** `more` has the fields of the request other than `process`. */
export function start(as: string, process: Command, more: object = {}, options: Options = {}): ScriptStep {
  return { do: 'open', as, call: { method: 'Start', message: { process, ...more }, ...options } }
}

export function connect(as: string, process: object, options: Options = {}): ScriptStep {
  return { do: 'open', as, call: { method: 'Connect', message: { process }, ...options } }
}

export function ended(stream: string): ScriptStep {
  return { do: 'await', stream, until: 'end' }
}

export function says(stream: string, text: string, output: Output = 'stdout'): ScriptStep {
  return { do: 'await', stream, until: { output, text } }
}

export function ask(method: ProcessMethod, message: Call['message'], options: Options = {}): ScriptStep {
  return { do: 'ask', call: { method, message, ...options } }
}

export function pid(stream: string): object {
  return { pid: `$${stream}` }
}

export function base64(text: string): string {
  return Buffer.from(text, 'latin1').toString('base64')
}

export function input(stream: string, kind: 'stdin' | 'pty', text: string, options: Options = {}): ScriptStep {
  return ask('SendInput', { process: pid(stream), input: { [kind]: base64(text) } }, options)
}

export function closeInput(stream: string): ScriptStep {
  return ask('CloseStdin', { process: pid(stream) })
}

export function signal(stream: string, name: string | number = 'SIGNAL_SIGKILL'): ScriptStep {
  return ask('SendSignal', { process: pid(stream), signal: name })
}

/** Starts a process and waits for its end. */
export function run(process: Command, more: object = {}, options: Options = {}): Script {
  return [start('a', process, more, options), ended('a')]
}

/** Writes to `/scratch/fifo`, which releases its reader. */
export const RELEASE: Script = [start('release', sh('echo go >/scratch/fifo')), ended('release')]

export function as(user: string | undefined): Options {
  return user === undefined ? {} : { headers: [basic(`${user}:`)] }
}

export const TERMINAL = { pty: { size: { cols: 80, rows: 24 } } }
