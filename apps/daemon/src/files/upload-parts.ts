import { AppError } from '@sandyard/kit/errors/app-error'
import { decodePath } from '../users/path-bytes.ts'
import { type MediaType, parseMediaType } from './media-type.ts'
import { isClientFault, type Part, readParts } from './multipart.ts'
import { decodeQuotedPrintable } from './quoted-printable.ts'
import { type FileBody, writeFile, type WriteOptions, type WrittenFile } from './write-file.ts'

/** What an upload is to write, and how. */
export interface Upload extends WriteOptions {
  readonly body: FileBody
  readonly mediaType: MediaType
  /** The parameter `path`, which takes the place of every part's filename. */
  readonly path: string | undefined
  readonly resolve: (path: string) => string
}

/** The form name of the parts that are files; all others are skipped. */
const FILE_PART = 'file'

/** Writes the file parts of a multipart body, one after the other as they arrive. A form without file parts is accepted (envd.md 5.7). */
export async function uploadParts(upload: Upload): Promise<WrittenFile[]> {
  const written = new Map<string, WrittenFile>()
  for await (const part of partsOf(upload)) {
    const disposition = readDisposition(part)
    if (disposition.name !== FILE_PART) continue
    const path = upload.resolve(upload.path ?? getFilename(disposition))
    if (written.has(path)) throw sameTarget(path, [...written.keys()])
    written.set(path, await writeFile(path, bodyOf(part), upload))
  }
  return [...written.values()]
}

/** Quoted-printable is the only transfer coding with a meaning in forms (RFC 7578 4.7). */
function bodyOf(part: Part): FileBody {
  const isQuotedPrintable = part.headers.get('content-transfer-encoding')?.toLowerCase() === 'quoted-printable'
  return isQuotedPrintable ? decodeQuotedPrintable(part.body) : (part.takeWhole() ?? part.body)
}

async function* partsOf({ body, mediaType }: Upload): AsyncGenerator<Part> {
  const boundary = mediaType.parameters.get('boundary')
  if (!mediaType.wellFormed || !['multipart/form-data', 'multipart/mixed'].includes(mediaType.type)) {
    throw new AppError('internal', "error parsing multipart form: request Content-Type isn't multipart/form-data")
  }
  if (boundary === undefined) throw new AppError('internal', 'error parsing multipart form: no multipart boundary param in Content-Type')
  try {
    yield* readParts(Buffer.isBuffer(body) ? [body] : body, boundary)
  } catch (error) {
    if (isClientFault(error)) throw new AppError('internal', `error reading form: ${error.message}`, { cause: error })
    throw error
  }
}

interface PartDisposition {
  /** Empty if the part is not a form field. */
  readonly name: string
  readonly filename: string | undefined
}

/** Names are normally UTF-8. Directories in a filename are kept. */
function readDisposition(part: Part): PartDisposition {
  const disposition = parseMediaType(part.headers.get('content-disposition') ?? '')
  if (disposition?.type !== 'form-data') return { name: '', filename: undefined }
  const decode = (text: string) => decodePath(Buffer.from(text, 'latin1'))
  const filename = disposition.parameters.get('filename')
  return { name: decode(disposition.parameters.get('name') ?? ''), filename: filename === undefined ? undefined : decode(filename) }
}

function getFilename({ filename }: PartDisposition): string {
  if (filename !== undefined) return filename
  throw new AppError('invalid_argument', 'error getting multipart custom part file name: filename not found in Content-Disposition header')
}

function sameTarget(path: string, written: readonly string[]): AppError {
  const others = written.filter((other) => other !== path)
  const also = others.length > 1 ? `, also the following files were uploaded: ${others.join(', ')}` : ''
  return new AppError(
    'invalid_argument',
    `you cannot upload multiple files to the same path '${path}' in one upload request, only the first specified file was uploaded${also}`,
  )
}
