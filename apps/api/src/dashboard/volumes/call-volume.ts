import type { IncomingMessage } from 'node:http'
import { VolumeEntryStat } from '@sandyard/api-contract/volumes/volume-content'
import type { VolumeEntry } from '@sandyard/dashboard-contract/volumes'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { ErrorKind } from '@sandyard/kit/errors/kinds'
import { validatorOf } from '../../http/validators.ts'
import { shorten } from '../../text/shorten.ts'
import { callService, type ServiceCall } from '../../volumes/content/call-service.ts'
import type { FileServices } from '../../volumes/content/file-services.ts'
import { ORDINARY } from '../../volumes/content/forward.ts'

/** A volume whose team was checked. */
export interface OwnVolume {
  readonly volumeId: string
  readonly teamId: string
}

export interface VolumeCall extends Partial<Pick<ServiceCall, 'body' | 'admit' | 'idleTimeoutMs' | 'timeoutMs'>> {
  /** Such as `GET /dir`. */
  readonly operation: string
  readonly query: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

const MAX_TEXT_BYTES = 64 * 1024

const KINDS: Readonly<Record<number, ErrorKind>> = {
  400: 'invalid_argument',
  404: 'not_found',
  409: 'conflict',
  429: 'resource_exhausted',
  503: 'unavailable',
  504: 'deadline_exceeded',
  507: 'insufficient_storage',
}

/**
 * Asks the file service of a volume. Who reads the answer to the end, or destroys it, ends the connection; the signal ends it too.
 *
 * @returns a successful answer
 * @throws AppError, also for what the service refuses; the abort reason
 */
export async function callVolume(
  services: FileServices,
  { volumeId, teamId }: OwnVolume,
  { operation, query, headers = {}, signal, body, ...limits }: VolumeCall,
): Promise<IncomingMessage> {
  const [method = '', path = ''] = operation.split(' ')
  const socket = await services.connect(volumeId, teamId)
  const end = (): void => void socket.destroy()
  signal.addEventListener('abort', end, { once: true })
  socket.once('close', () => signal.removeEventListener('abort', end))
  try {
    signal.throwIfAborted()
    const call = { method, path: `${path}?${new URLSearchParams(query).toString()}`, key: services.keyOf(volumeId), headers, body }
    const answer = await callService(socket, { ...ORDINARY, ...limits, ...call })
    const status = answer.statusCode ?? 500
    if (status >= 300) throw refusalOf(status, await readText(answer, MAX_TEXT_BYTES))
    return answer
  } catch (err) {
    socket.destroy()
    signal.throwIfAborted()
    throw err
  }
}

/** The entry of an answer. @throws AppError `bad_gateway` */
export async function readVolumeEntry(answer: IncomingMessage): Promise<VolumeEntry> {
  return toVolumeEntry(parse(await readText(answer, MAX_TEXT_BYTES)))
}

/** @throws AppError `bad_gateway` for what is no entry */
export function toVolumeEntry(value: unknown): VolumeEntry {
  const { name, path, type, size, mode, mtime } = toStat(value)
  return {
    name,
    path,
    kind: type === 'unknown' ? 'other' : type,
    bytes: size,
    mode: mode.toString(8).padStart(4, '0'),
    modifiedAt: mtime,
  }
}

/** @throws AppError `bad_gateway` for what is no entry */
export function toStat(value: unknown): VolumeEntryStat {
  if (!validatorOf(VolumeEntryStat, 'body')(value)) throw new AppError('bad_gateway', 'The file service of the volume has answered wrongly')
  return value as VolumeEntryStat
}

/** @throws AppError `bad_gateway` */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new AppError('bad_gateway', 'The file service of the volume has answered wrongly', { cause })
  }
}

/** @throws AppError `bad_gateway` for a longer answer */
export async function readText(answer: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new AppError('bad_gateway', 'The answer of the file service of the volume is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function refusalOf(status: number, text: string): Error {
  if (status === 401) return new Error('the file service of the volume has another key')
  const { message } = parse(text) as { readonly message?: unknown }
  return new AppError(KINDS[status] ?? 'bad_gateway', shorten(typeof message === 'string' ? message : 'The file service failed'))
}
