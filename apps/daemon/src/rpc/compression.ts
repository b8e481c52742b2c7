import { gunzip, gzip, type ZlibOptions } from 'node:zlib'
import { Code, ConnectError } from '@connectrpc/connect'
import type { Compression } from '@connectrpc/connect/protocol'

const BEST_SPEED = 1

/**
 * The only supported encoding (envd.md 6.5). Unlike the library's own it favours speed, since the network is local, and reports every
 * invalid body as an error of the client.
 */
export const gzipCompression: Compression = {
  name: 'gzip',
  compress: (bytes) => run(gzip, bytes, { level: BEST_SPEED }),
  async decompress(bytes, readMaxBytes) {
    if (bytes.length === 0) return new Uint8Array()
    return run(gunzip, bytes, { maxOutputLength: readMaxBytes }).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'ERR_BUFFER_TOO_LARGE'
        ? new ConnectError(`message is larger than ${readMaxBytes} bytes`, Code.ResourceExhausted)
        : new ConnectError(`decompress: ${error.message}`, Code.InvalidArgument)
    })
  },
}

function run(transform: typeof gzip, bytes: Uint8Array, options: ZlibOptions): Promise<Buffer<ArrayBuffer>> {
  return new Promise((resolve, reject) => transform(bytes, options, (error, result) => (error === null ? resolve(result) : reject(error))))
}
