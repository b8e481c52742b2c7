import './native-base64.ts'
import { isUtf8 } from 'node:buffer'
import {
  create,
  type DescMessage,
  fromBinary,
  fromJsonString,
  type MessageInitShape,
  type MessageShape,
  toBinary,
  toJsonString,
} from '@bufbuild/protobuf'
import { AppError } from '@sandyard/kit/errors/app-error'
import { jsonOptions, writeSizesAsNumbers } from './json-codec.ts'

/** One of the two ways to write a message (envd.md 6.1). */
export interface Codec {
  readonly name: 'json' | 'proto'
  /** @throws AppError `invalid_argument` for what is no such message */
  decode<D extends DescMessage>(schema: D, bytes: Buffer): MessageShape<D>
  encode<D extends DescMessage>(schema: D, message: MessageInitShape<D>): Buffer
}

/** Proto3's JSON mapping (envd.md 6.2), with zeros and with sizes as numbers (envd.md 17). */
export const jsonCodec: Codec = {
  name: 'json',
  decode: (schema, bytes) =>
    unmarshal(() => {
      if (bytes.length === 0) throw new Error('zero-length payload is not a valid JSON object')
      // Decoded leniently, a name that is no text would become that of another file.
      if (!isUtf8(bytes)) throw new Error('invalid UTF-8')
      return fromJsonString(schema, bytes.toString(), { ignoreUnknownFields: true })
    }),
  encode: (schema, message) => Buffer.from(writeSizesAsNumbers(toJsonString(schema, create(schema, message), jsonOptions))),
}

export const protoCodec: Codec = {
  name: 'proto',
  decode: (schema, bytes) => unmarshal(() => fromBinary(schema, bytes, { readUnknownFields: false })),
  encode: (schema, message) => Buffer.from(toBinary(schema, create(schema, message))),
}

function unmarshal<T>(decode: () => T): T {
  try {
    return decode()
  } catch (error) {
    throw new AppError('invalid_argument', `unmarshal message: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}
