import { once } from 'node:events'

/** Writes to a stream and waits while its reader is behind. */
export async function writeOut(stream: NodeJS.WriteStream, bytes: Uint8Array): Promise<void> {
  if (!stream.write(bytes)) await once(stream, 'drain')
}
