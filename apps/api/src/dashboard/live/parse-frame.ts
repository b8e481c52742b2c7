import { Type, type TSchema } from 'typebox'
import { MAX_PATH_BYTES, MAX_TERMINAL_SIZE, MAX_TOPIC_LENGTH } from '@sandyard/dashboard-contract/limits'
import type { ClientFrame } from '@sandyard/dashboard-contract/live/frames'
import { sandboxId } from '@sandyard/dashboard-contract/request-fields'
import { UUID_PATTERN } from '@sandyard/kit/ids/uuid'
import { validatorOf } from '../../http/validators.ts'

const number = Type.Integer({ minimum: 1, maximum: 2 ** 31 })
const channel = Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1 })
const terminalId = Type.String({ pattern: UUID_PATTERN })
const size = {
  cols: Type.Integer({ minimum: 1, maximum: MAX_TERMINAL_SIZE.cols }),
  rows: Type.Integer({ minimum: 1, maximum: MAX_TERMINAL_SIZE.rows }),
}

const SHAPES: Readonly<Record<ClientFrame['t'], TSchema>> = {
  sub: Type.Object({ id: number, topic: Type.String({ maxLength: MAX_TOPIC_LENGTH }) }),
  unsub: Type.Object({ id: number }),
  pong: Type.Object({}),
  'term.open': Type.Object({
    request: number,
    sandboxId,
    ...size,
    user: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    cwd: Type.Optional(Type.String({ maxLength: MAX_PATH_BYTES })),
    record: Type.Optional(Type.Boolean()),
    terminalId,
  }),
  'term.attach': Type.Object({ request: number, terminalId, ...size, sandboxId: Type.Optional(sandboxId) }),
  'term.detach': Type.Object({ channel }),
  'term.resize': Type.Object({ channel, ...size }),
  'term.ack': Type.Object({ channel, bytes: Type.Integer({ minimum: 0, maximum: 2 ** 31 }) }),
  'term.end': Type.Object({ channel }),
  'term.record': Type.Object({ channel, on: Type.Boolean() }),
}

/** Undefined for a text that is no frame of this release. */
export function parseFrame(text: string): ClientFrame | undefined {
  try {
    const frame = JSON.parse(text) as { readonly t?: unknown } | null
    const name = frame?.t
    if (typeof name !== 'string' || !Object.hasOwn(SHAPES, name)) return undefined
    return validatorOf(SHAPES[name as ClientFrame['t']], 'body')(frame) ? (frame as ClientFrame) : undefined
  } catch {
    return undefined
  }
}
