import Docker from 'dockerode'
import { AppError } from '@sandyard/kit/errors/app-error'
import { toAppError } from './docker-errors.ts'

export const DEFAULT_ADDRESS = 'unix:///var/run/docker.sock'

/** Engine 20.10. Everything that this package asks of an engine is in it. */
const API_VERSION = '1.41'
const PLAIN_TCP_PORT = 2375

/**
 * The engine at `address` (`unix:///path` or `tcp://host:port`, as in `DOCKER_HOST`), once it has answered. Newer engines have
 * dropped the oldest versions of their interface; with them the oldest that they still speak is used.
 *
 * @throws AppError `invalid_argument` for another form of address, `unavailable` when no engine answers, `failed_precondition`
 *   when it is older than 20.10
 */
export async function connectEngine(address: string = DEFAULT_ADDRESS): Promise<Docker> {
  const connection = connectionOf(address)
  const { ApiVersion: newest, MinAPIVersion: oldest } = await versionsOf(new Docker(connection))
  if (compareVersions(newest, API_VERSION) < 0) {
    throw new AppError('failed_precondition', 'This Docker engine is too old: version 20.10 or newer is needed.')
  }
  return new Docker({ ...connection, version: `v${compareVersions(oldest, API_VERSION) > 0 ? oldest : API_VERSION}` })
}

export function connectionOf(address: string): Docker.DockerOptions {
  const socketPath = /^unix:\/\/(\/.+)$/.exec(address)?.[1]
  if (socketPath !== undefined) return { socketPath }
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || !['tcp:', 'http:'].includes(url.protocol) || url.hostname === '') {
    throw new AppError('invalid_argument', `"${address}" is not an address of a Docker engine: use unix:///path or tcp://host:port.`)
  }
  return { protocol: 'http', host: url.hostname, port: url.port === '' ? PLAIN_TCP_PORT : Number(url.port) }
}

/** Asked without a version in the path: the one question that every engine answers. */
async function versionsOf(docker: Docker): Promise<{ ApiVersion: string; MinAPIVersion: string }> {
  try {
    return await docker.version()
  } catch (err) {
    throw toAppError(err, 'The Docker engine did not answer.')
  }
}

function compareVersions(left: string, right: string): number {
  const [leftMajor = 0, leftMinor = 0] = left.split('.').map(Number)
  const [rightMajor = 0, rightMinor = 0] = right.split('.').map(Number)
  return leftMajor - rightMajor || leftMinor - rightMinor
}
