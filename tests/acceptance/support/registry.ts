import { vi } from 'vitest'
import { engine } from './engine.ts'
import { makeContext } from './build-context.ts'

/** The account that may pull: the hash below belongs to this password. */
export const CREDENTIALS = { username: 'puller', password: 'let-me-pull' } as const

const HASH = '$2b$05$RccZbMRa.D9lRnQmlxhG2ue38EAC0HoAN9RVLOrPzWctKR266JMlG'
const CONFIG =
  'version: 0.1\\nstorage: {filesystem: {rootdirectory: /registry}}\\nhttp: {addr: ":5000"}\\nauth: {htpasswd: {realm: test, path: /users}}\\n'

const REGISTRY = `FROM debian:bookworm-slim
RUN apt-get update && apt-get install --yes --no-install-recommends docker-registry && rm -rf /var/lib/apt/lists/*
RUN printf '%s:%s\\n' ${CREDENTIALS.username} '${HASH}' > /users && printf '${CONFIG}' > /config.yml
CMD ["docker-registry", "serve", "/config.yml"]
`

/** A minimal image with a shell: no account, no package manager, only the directory /bin. */
const TINY = `FROM debian:bookworm-slim AS tools
RUN apt-get update && apt-get install --yes --no-install-recommends busybox-static
FROM scratch
COPY --from=tools /bin/busybox /bin/busybox
RUN ["/bin/busybox", "--install", "-s", "/bin"]
ENV FROM_IMAGE="kept from the image"
`

/** A registry on the loopback address that requires a password, and its image. */
export interface PrivateRegistry extends AsyncDisposable {
  /** The reference of an image that has only busybox. */
  readonly image: string
}

/** Starts Debian's registry in a container. Both images stay on the engine for the next run. */
export async function startRegistry(): Promise<PrivateRegistry> {
  const registry = await buildImage('sandyard/test-registry', REGISTRY)
  const tiny = await buildImage('sandyard/test-registry-tiny', TINY)
  const [container = ''] = await engine('run', '--detach', '--rm', '--publish', '127.0.0.1::5000', registry)
  const dispose = async (): Promise<void> => void (await engine('rm', '--force', '--volumes', container))
  try {
    const [address = ''] = await engine('port', container, '5000/tcp')
    const image = `${address}/tiny:1`
    // The engine forwards the port before the registry listens.
    await vi.waitFor(() => fetch(`http://${address}/v2/`), { timeout: 30_000, interval: 50 })
    await push(tiny, image, address)
    await engine('rmi', image)
    return { image, [Symbol.asyncDispose]: dispose }
  } catch (error) {
    await dispose()
    throw error
  }
}

async function buildImage(name: string, dockerfile: string): Promise<string> {
  await using context = await makeContext({ Dockerfile: dockerfile })
  await engine('build', '--quiet', '--tag', name, context.directory)
  return name
}

/** Stores the password in a temporary directory, so that other pulls on this machine do not use it. */
async function push(local: string, image: string, address: string): Promise<void> {
  await using config = await makeContext({})
  const { username, password } = CREDENTIALS
  await engine('--config', config.directory, 'login', '--username', username, '--password', password, address)
  await engine('tag', local, image)
  await engine('--config', config.directory, 'push', '--quiet', image)
}
