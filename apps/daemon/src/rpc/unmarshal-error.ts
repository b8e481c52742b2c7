import { Code, ConnectError } from '@connectrpc/connect'

/** How the protobuf library begins its complaints about JSON, and Connect those about binary messages. */
const LIBRARY_TEXT = /^(?:cannot decode |parse binary: )/

/** The message of a request that cannot be read, as the wire has it (envd.md 6.4); undefined for other messages. */
export function unmarshalMessage(message: string): string | undefined {
  return LIBRARY_TEXT.test(message) ? `unmarshal message: ${message}` : undefined
}

/** A malformed request is `invalid_argument` in both codecs. Undefined when `error` says something else. */
export function toUnmarshalError(error: ConnectError): ConnectError | undefined {
  const message = unmarshalMessage(error.rawMessage)
  return message === undefined ? undefined : new ConnectError(message, Code.InvalidArgument, undefined, undefined, error)
}
