import type { Readable } from 'node:stream'
import { AppError } from '@sandyard/kit/errors/app-error'
import { extract } from 'tar-stream'
import { readCapped } from './read-capped.ts'

/**
 * The content of the file that is the only entry of an archive.
 *
 * @throws AppError `unavailable` when the archive has no whole file; Error for one with more than `maxBytes`
 */
export async function fileInTar(archive: Readable, maxBytes: number): Promise<Buffer> {
  const entries = extract()
  // The reader of the entries must hear of an archive that breaks off.
  archive
    .once('error', (err) => entries.destroy(err))
    .once('close', () => {
      if (!archive.readableEnded) entries.destroy(new Error('the archive broke off'))
    })
  archive.pipe(entries)
  try {
    for await (const entry of entries) {
      const { bytes, isCut } = await readCapped(entry as AsyncIterable<Buffer>, maxBytes)
      if (isCut) throw new Error('the file is larger than its stat')
      if (entry.header.type !== 'file' || bytes.length !== entry.header.size) break
      return bytes
    }
  } finally {
    entries.destroy()
  }
  throw new AppError('unavailable', 'The Docker engine did not send the whole file.')
}
