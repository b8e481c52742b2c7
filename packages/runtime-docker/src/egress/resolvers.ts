import { isIPv4 } from 'node:net'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { AppError } from '@sandyard/kit/errors/app-error'
import type Docker from 'dockerode'
import { randomId } from '@sandyard/kit/ids/ids'

const FILE = '/etc/resolv.conf'

/**
 * The resolvers that the engine gives to containers: those of its host, without the loopback ones, which a container does not
 * reach. The file of the host tells less (it may name a local stub), so a container without a network is started and read.
 *
 * @throws AppError `failed_precondition` when there is none: names would never resolve inside
 */
export async function engineResolvers(docker: Docker, image: string): Promise<string[]> {
  const file = await readInContainer(docker, image)
  const resolvers = [...file.matchAll(/^nameserver\s+(\S+)/gm)].map((match) => match[1] ?? '').filter((address) => isIPv4(address))
  if (resolvers.length > 0) return resolvers
  throw new AppError('failed_precondition', 'The Docker engine knows no IPv4 resolver: name some in SANDYARD_RESOLVERS.')
}

async function readInContainer(docker: Docker, image: string): Promise<string> {
  const container = await docker.createContainer({
    name: `sandyard-probe-${randomId(12)}`,
    Image: image,
    Entrypoint: ['cat', FILE],
    Cmd: [],
    // One stream without the engine's framing.
    Tty: true,
    HostConfig: { AutoRemove: true, NetworkMode: 'none', CapDrop: ['ALL'], LogConfig: { Type: 'none', Config: {} } },
  })
  try {
    const output = (await container.attach({ stream: true, stdout: true, hijack: true })) as Duplex
    try {
      await container.start()
      return await text(output)
    } finally {
      output.destroy()
    }
  } catch (err) {
    await container.remove({ force: true }).catch(() => undefined)
    throw err
  }
}
