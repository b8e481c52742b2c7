import { type Codec, jsonCodec, protoCodec } from './codec.ts'

export type CallKind = 'unary' | 'stream'

/** How a call's messages are written, both ways. */
export interface CallForm {
  readonly codec: Codec
  readonly contentType: string
}

const CODECS: Readonly<Record<CallKind, ReadonlyMap<string, Codec>>> = {
  unary: new Map([
    ['application/json', jsonCodec],
    ['application/json; charset=utf-8', jsonCodec],
    ['application/proto', protoCodec],
  ]),
  stream: new Map([
    ['application/connect+json', jsonCodec],
    ['application/connect+json; charset=utf-8', jsonCodec],
    ['application/connect+proto', protoCodec],
  ]),
}

/** A media type without parameters, or with no other than the one charset that there is. */
const MEDIA_TYPE = /^([^\s;]+)\s*(?:;\s*(charset="?utf-8"?)?\s*)?$/i

/** The form that a `Content-Type` asks for; undefined when the kind of call has no such form (envd.md 6.1). */
export function readForm(kind: CallKind, header: string | undefined = ''): CallForm | undefined {
  const [, type = '', charset] = MEDIA_TYPE.exec(header) ?? []
  const contentType = type.toLowerCase() + (charset === undefined ? '' : '; charset=utf-8')
  const codec = CODECS[kind].get(contentType)
  return codec === undefined ? undefined : { codec, contentType }
}

/** What `Accept-Post` says of a kind of call. */
export function listForms(kind: CallKind): string {
  return [...CODECS[kind].keys()].join(', ')
}
