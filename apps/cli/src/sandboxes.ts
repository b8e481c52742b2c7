import type { ListedSandbox, SandboxDetail } from '@sandyard/api-contract/sandboxes/sandbox'
import { type Command, InvalidArgumentError } from 'commander'
import type { ApiClient } from './api-client.ts'

/** Which sandboxes a command means. */
export interface SandboxFilter {
  readonly state?: 'running' | 'paused'
  readonly template?: string
  readonly metadata?: Readonly<Record<string, string>>
}

export function listSandboxes(api: ApiClient, { state, template, metadata }: SandboxFilter = {}): Promise<ListedSandbox[]> {
  return api.listAll('listSandboxesV2', {
    state,
    template,
    metadata: metadata && encodePairs(metadata),
  })
}

/** As clients send them (control-plane.md 6.3.4): each key and value is encoded, and again as a part of the query string. */
function encodePairs(pairs: Readonly<Record<string, string>>): string {
  const encoded = Object.entries(pairs).map(([key, value]): [string, string] => [encodeURIComponent(key), encodeURIComponent(value)])
  return new URLSearchParams(encoded).toString()
}

export function getSandbox(api: ApiClient, sandboxID: string): Promise<SandboxDetail> {
  return api.call('getSandbox', { path: { sandboxID } })
}

/** The options of every command that selects sandboxes; their values are a `SandboxFilter`. */
export function addFilterOptions(command: Command): Command {
  return command
    .option('--state <state>', 'running or paused', readState)
    .option('--template <template>', 'id or name of the template')
    .option('--metadata <key=value>', 'a pair that must match; may be repeated', readPair)
}

/** Collects `key=value` of a repeated option. */
export function readPair(text: string, previous: Readonly<Record<string, string>> = {}): Record<string, string> {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('It must be key=value.')
  return { ...previous, [text.slice(0, at)]: text.slice(at + 1) }
}

/** Seconds, for a timeout. */
export function readSeconds(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number of seconds.')
  return Number(text)
}

function readState(text: string): 'running' | 'paused' {
  if (text !== 'running' && text !== 'paused') throw new InvalidArgumentError('It must be running or paused.')
  return text
}
