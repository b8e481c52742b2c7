import { fromJson, type JsonValue, toBinary } from '@bufbuild/protobuf'
import type { Call } from '../script/script.ts'
import { envelope } from './envelopes.ts'
import type { WireRequest } from './exchange.ts'
import { describeMethod } from './rpc.ts'

/** Pids by the name of the stream that started the process. */
export type Pids = ReadonlyMap<string, number>

/** The HTTP request of a call of the process service. */
export function toRequest(call: Call, pids: Pids = new Map()): WireRequest {
  const { message, method, codec = 'json', headers = [] } = call
  const isStream = describeMethod(method).methodKind !== 'unary'
  const own = new Set(headers.map(([name]) => name.toLowerCase()))
  const given: WireRequest['headers'] = [
    ['Content-Type', `application/${isStream ? 'connect+' : ''}${codec}`],
    ['Connect-Protocol-Version', '1'],
  ]
  const request = { method: 'POST', target: `/process.Process/${method}` } as const
  const all = [...given.filter(([name]) => !own.has(name.toLowerCase())), ...headers]
  if (own.has('transfer-encoding')) return { ...request, headers: all }
  return { ...request, headers: all, body: Buffer.isBuffer(message) ? message : toBody(call, isStream, pids) }
}

/** The envelope of one message in a stream of requests. */
export function toEnvelope(call: Call, message: object | string, pids: Pids): Buffer {
  return envelope(encode(call, message, pids))
}

function toBody(call: Call, isStream: boolean, pids: Pids): Buffer {
  const { message } = call
  if (Buffer.isBuffer(message)) return message
  if (Array.isArray(message)) return Buffer.concat(message.map((one: object) => (Buffer.isBuffer(one) ? one : toEnvelope(call, one, pids))))
  return isStream ? toEnvelope(call, message, pids) : encode(call, message, pids)
}

function encode({ method, codec }: Call, message: object | string, pids: Pids): Buffer {
  const text = typeof message === 'string' ? message : JSON.stringify(message)
  const json = text.replaceAll(/"pid":"\$(\w+)"/g, (_, name: string) => `"pid":${pids.get(name) ?? 0}`)
  if (codec !== 'proto') return Buffer.from(json)
  const { input } = describeMethod(method)
  return Buffer.from(toBinary(input, fromJson(input, JSON.parse(json) as JsonValue)))
}
