import { create, type DescMethod, fromBinary, type JsonValue, toBinary, toJson } from '@bufbuild/protobuf'
import { Filesystem } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { Process } from '@sandyard/daemon-protocol/process/process_pb'
import type { ProcessMethod } from '../script/script.ts'
import { envelope } from './envelopes.ts'
import type { WireRequest } from './exchange.ts'

export type FilesystemMethod =
  | 'Stat'
  | 'ListDir'
  | 'MakeDir'
  | 'Move'
  | 'Remove'
  | 'WatchDir'
  | 'CreateWatcher'
  | 'GetWatcherEvents'
  | 'RemoveWatcher'
export type RpcMethod = FilesystemMethod | ProcessMethod
type Headers = WireRequest['headers']

const VERSION: Headers = [['Connect-Protocol-Version', '1']]

export function target(method: FilesystemMethod): string {
  return `/filesystem.Filesystem/${method}`
}

/** A call in the form of the SDKs; a string is sent unchanged. */
export function jsonCall(method: FilesystemMethod, message: object | string, headers: Headers = []): WireRequest {
  const body = Buffer.from(typeof message === 'string' ? message : JSON.stringify(message))
  const isStream = method === 'WatchDir'
  return {
    method: 'POST',
    target: target(method),
    headers: [['Content-Type', isStream ? 'application/connect+json' : 'application/json'], ...VERSION, ...headers],
    body: isStream ? envelope(body) : body,
    ...(isStream ? { waitMs: STREAM_MS } : {}),
  }
}

export function protoCall(method: FilesystemMethod, message: Record<string, unknown>, headers: Headers = []): WireRequest {
  const { input } = describeMethod(method)
  const body = Buffer.from(toBinary(input, create(input, message)))
  const isStream = method === 'WatchDir'
  return {
    method: 'POST',
    target: target(method),
    headers: [['Content-Type', isStream ? 'application/connect+proto' : 'application/proto'], ...VERSION, ...headers],
    body: isStream ? envelope(body) : body,
    ...(isStream ? { waitMs: STREAM_MS } : {}),
  }
}

/** Decodes a binary answer to JSON; undefined if it is invalid. */
export function decodeProto(method: RpcMethod, bytes: Buffer): JsonValue | undefined {
  const { output } = describeMethod(method)
  try {
    return toJson(output, fromBinary(output, bytes))
  } catch {
    return undefined
  }
}

export function basic(name: string): readonly [string, string] {
  return ['Authorization', `Basic ${Buffer.from(name).toString('base64')}`]
}

/** Time limit of a watch stream: an accepted one never ends by itself, and its first frames arrive much earlier. */
const STREAM_MS = 250

export function describeMethod(method: RpcMethod): DescMethod {
  const found = [...Filesystem.methods, ...Process.methods].find(({ name }) => name === method)
  if (found === undefined) throw new Error(`there is no method ${method}`)
  return found
}
