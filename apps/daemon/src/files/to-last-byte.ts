import type { Readable } from 'node:stream'

/** The bytes of a stream; where it fails, what still waits to be read comes before the failure. The stream is left to its owner. */
export async function* toLastByte(stream: Readable): AsyncGenerator<Buffer> {
  try {
    yield* stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
  } catch (error) {
    for (let rest = stream.read() as Buffer | null; rest !== null; rest = stream.read() as Buffer | null) yield rest
    throw error
  }
}
