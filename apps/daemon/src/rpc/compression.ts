import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { Code, ConnectError } from '@connectrpc/connect'
import type { Compression } from '@connectrpc/connect/protocol'

const BEST_SPEED = 1
const [compress, decompress] = [promisify(gzip), promisify(gunzip)]

/**
 * The only supported encoding (envd.md 6.5). Unlike the library's own it favours speed, since the network is local, and reports every
 * invalid body as an error of the client.
 */
export const gzipCompression: Compression = {
  name: 'gzip',
  compress: (bytes) => compress(bytes, { level: BEST_SPEED }),
  async decompress(bytes, readMaxBytes) {
    if (bytes.length === 0) return new Uint8Array()
    return decompress(bytes, { maxOutputLength: readMaxBytes }).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'ERR_BUFFER_TOO_LARGE'
        ? new ConnectError(`message is larger than ${readMaxBytes} bytes`, Code.ResourceExhausted)
        : new ConnectError(`decompress: ${error.message}`, Code.InvalidArgument)
    })
  },
}
