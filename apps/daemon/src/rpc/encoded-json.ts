/**
 * The library encodes a message in one go, and a long message keeps all other calls waiting meanwhile. So a handler may encode its message in
 * slices: it then returns a short message that holds a reference, and the text codec of `json-text.ts` replaces its text by what was encoded.
 */
import { randomUUID } from 'node:crypto'

const REFERENCE = /"(encoded:[\da-f-]{36})"/

/** By reference. Only microtasks pass between the result of a handler and the codec, so nothing is kept for long. */
const encoded = new Map<string, Buffer>()

/** Keeps the JSON text of a whole message, and returns a reference for any text field of the message that is returned in its place. */
export function referTo(text: Buffer): string {
  const reference = `encoded:${randomUUID()}`
  encoded.set(reference, text)
  return reference
}

/** The text that the message refers to; undefined if the message is an ordinary one. */
export function takeEncoded(json: string): Buffer | undefined {
  const reference = REFERENCE.exec(json)?.[1] ?? ''
  const text = encoded.get(reference)
  encoded.delete(reference)
  return text
}
