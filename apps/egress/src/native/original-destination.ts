import type { Socket } from 'node:net'
import { descriptorOf } from '@sandyard/kit/net/descriptor-of'
import koffi from 'koffi'

/** IPv4 address and port. */
export interface Endpoint {
  readonly address: string
  readonly port: number
}

/** Returns where a redirected connection was addressed to; undefined when the kernel knows no such address. */
export type ReadOriginalDestination = (socket: Socket) => Endpoint | undefined

const SOL_IP = 0
const SO_ORIGINAL_DST = 80
const AF_INET = 2
/** `struct sockaddr_in`: family (2 bytes, host order), port (2, network order), address (4), padding (8). */
const SOCKADDR_IN_BYTES = 16

type GetSockOpt = (fd: number, level: number, name: number, value: Buffer, length: Buffer) => number
let getSockOpt: GetSockOpt | undefined

/**
 * The destination that a connection had before the packet rules redirected it, from the kernel's connection tracking
 * (`getsockopt` with `SO_ORIGINAL_DST`). For a connection that was not redirected it is its own local address, or undefined.
 */
export function readOriginalDestination(socket: Socket): Endpoint | undefined {
  const fd = descriptorOf(socket)
  if (fd < 0) return undefined
  getSockOpt ??= koffi.load(null).func('int getsockopt(int, int, int, void *, void *)') as unknown as GetSockOpt
  // Both buffers live until this synchronous call has returned.
  const value = Buffer.alloc(SOCKADDR_IN_BYTES)
  const length = Buffer.alloc(4)
  new Uint32Array(length.buffer, length.byteOffset, 1)[0] = SOCKADDR_IN_BYTES
  return getSockOpt(fd, SOL_IP, SO_ORIGINAL_DST, value, length) === 0 ? parseSocketAddress(value) : undefined
}

/** Reads a `struct sockaddr_in`; undefined for another family. */
export function parseSocketAddress(bytes: Buffer): Endpoint | undefined {
  const family = new Uint16Array(bytes.buffer, bytes.byteOffset, 1)[0]
  if (family !== AF_INET) return undefined
  return { address: bytes.subarray(4, 8).join('.'), port: bytes.readUInt16BE(2) }
}
