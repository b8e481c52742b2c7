import { createServer, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { inspect } from 'node:util'
import { pack } from 'tar-stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { randomId } from '@sandyard/kit/ids/ids'
import type { RegistryCredentials } from '@sandyard/runtime/image-store'
import type { AuthConfig } from 'dockerode'
import { followAnswer } from '../src/engine/follow-answer.ts'
import { PullJournal } from '../src/images/registry/pull-journal.ts'
import type { DockerRuntime } from '../src/docker-runtime.ts'
import { EngineBench, sandboxSpec } from './support/engine-bench.ts'
import { Inside } from './support/inside.ts'
import { buildTestImage } from './support/test-images.ts'
import { ACCOUNTS, TestRegistry } from './support/test-registry.ts'

const TINY = `
FROM scratch
COPY Dockerfile /hello
ENV GREETING=hi EMPTY=
WORKDIR /srv
USER 7:7
`

const SECRET = 'the secret of nobody else'
const docker: RegistryCredentials = { type: 'registry', username: ACCOUNTS.docker.username, password: ACCOUNTS.docker.password }
const gcp: RegistryCredentials = { type: 'gcp', serviceAccountJson: ACCOUNTS.gcp.password }
const aws: RegistryCredentials = { type: 'aws', awsAccessKeyId: 'AKIDEXAMPLE', awsSecretAccessKey: SECRET, awsRegion: 'eu-west-1' }

const installation = `test-${randomId(8)}`

describe('pulling', () => {
  const stack = new AsyncDisposableStack()
  const asked: { request: IncomingMessage; body: string }[] = []
  let bench: EngineBench
  let registry: TestRegistry
  let runtime: DockerRuntime
  let tiny: string
  let app: string

  beforeAll(async () => {
    bench = stack.use(await EngineBench.open())
    registry = stack.use(await TestRegistry.open())
    tiny = await buildTestImage(bench.docker, 'tiny', TINY)
    await registry.push(bench.docker, tiny, 'team/app')
    app = `${registry.host}/team/app:v1`
    const ecr = await serve(async (request) => {
      asked.push({ request, body: await text(request) })
      const isKnown = request.headers.authorization?.includes('Credential=AKIDEXAMPLE/')
      const token = Buffer.from(`AWS:${ACCOUNTS.aws.password}`).toString('base64')
      return isKnown === true
        ? { status: 200, body: { authorizationData: [{ authorizationToken: token, expiresAt: 1, proxyEndpoint: 'https://x' }] } }
        : { status: 400, body: { __type: 'UnrecognizedClientException' } }
    })
    runtime = await bench.runtime({ installation, baseImage: tiny, ecrEndpoint: () => ecr })
  }, 300_000)
  afterAll(() => stack.disposeAsync())

  async function serve(answer: (request: IncomingMessage) => Promise<{ status: number; body: object }>): Promise<string> {
    const server = createServer((request, response) => {
      void answer(request).then(({ status, body }) => response.writeHead(status).end(JSON.stringify(body)))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    stack.defer(() => {
      server.closeAllConnections()
      server.close()
    })
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  }

  function login(): AuthConfig {
    const { username, password } = ACCOUNTS.docker
    return { username, password, serveraddress: registry.host }
  }

  /** Every name on the engine with the registry's prefix. */
  async function leftNames(): Promise<string[]> {
    const images = await bench.docker.listImages({ all: true, digests: true })
    return images
      .flatMap(({ RepoTags, RepoDigests }) => [...(RepoTags ?? []), ...(RepoDigests ?? [])])
      .filter((name) => name.startsWith(registry.host))
  }

  it.for([
    ['a password', docker],
    ["a service account's key", gcp],
    ['a key of AWS', aws],
  ] as const)('pulls a private image with %s, for its owner only', async ([, credentials]) => {
    const lines: string[] = []
    const facts = await runtime.images.pull({ reference: app, credentials, onLine: (line) => lines.push(line) })
    expect(facts).toMatchObject({ env: { GREETING: 'hi', EMPTY: '' }, workdir: '/srv', user: '7:7' })
    expect(facts.sizeBytes).toBeGreaterThan(0)
    expect(await runtime.images.inspect(facts.image)).toEqual(facts)
    expect((await runtime.images.list()).map(({ image }) => image)).toContain(facts.image)
    expect(await leftNames()).toEqual([])
    await expect(runtime.images.pull({ reference: app })).rejects.toMatchObject({ kind: 'permission_denied' })
    const inside = new Inside(await runtime.create(sandboxSpec({ image: facts.image })))
    expect(await inside.readFile('/hello')).toContain('COPY Dockerfile')
  })

  it('brings an image without its volumes, whose paths become directories', async () => {
    const image = await buildTestImage(bench.docker, 'tiny-volume', `${TINY}VOLUME /data/deep\n`)
    await registry.push(bench.docker, image, 'team/volume')
    const facts = await runtime.images.pull({ reference: `${registry.host}/team/volume:v1`, credentials: docker })
    expect(facts).toMatchObject({ env: { GREETING: 'hi', EMPTY: '' }, workdir: '/srv', user: '7:7' })
    expect((await bench.docker.getImage(facts.image).inspect()).Config.Volumes ?? {}).toEqual({})
    const inside = new Inside(await runtime.create(sandboxSpec({ image: facts.image })))
    await inside.writeFile('/data/deep/x', 'written')
    expect(await inside.readFile('/data/deep/x')).toBe('written')
    expect(await leftNames()).toEqual([])
  })

  it('gives every concurrent pull its own name', async () => {
    const pulls = await Promise.all([1, 2, 3].map(() => runtime.images.pull({ reference: app, credentials: docker })))
    expect(new Set(pulls.map(({ image }) => image)).size).toBe(3)
    expect(await leftNames()).toEqual([])
    for (const { image } of pulls) await runtime.images.remove(image)
    await expect(runtime.images.inspect(pulls[0]?.image ?? '')).rejects.toMatchObject({ kind: 'not_found' })
  })

  it('signs its requests to AWS as AWS requires', async () => {
    await runtime.images.pull({ reference: app, credentials: aws })
    const { request, body } = asked.at(-1) ?? expect.unreachable()
    expect(body).toBe('{}')
    expect(request.headers).toMatchObject({
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': 'AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken',
      'x-amz-date': expect.stringMatching(/^\d{8}T\d{6}Z$/),
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/ecr\/aws4_request, SignedHeaders=\S+, Signature=[0-9a-f]{64}$/,
      ),
    })
  })

  const wrong: [string, string, RegistryCredentials | undefined, string, string][] = [
    ['an absent tag', ':nope', docker, 'not_found', "image '<x>' not found: the image or tag does not exist in the registry"],
    [
      'a wrong password',
      ':v1',
      { ...docker, password: SECRET },
      'permission_denied',
      "access denied to '<x>': the registry refused the credentials",
    ],
    [
      'no password',
      ':v1',
      undefined,
      'permission_denied',
      "access denied to '<x>': it is private or does not exist; private images need credentials",
    ],
    [
      'an unknown key of AWS',
      ':v1',
      { ...aws, awsAccessKeyId: 'AKIDOTHER' },
      'permission_denied',
      "access denied to '<x>': AWS refused the credentials",
    ],
    ['an invalid region', ':v1', { ...aws, awsRegion: 'x.evil.example/' }, 'invalid_argument', "'x.evil.example/' is not an AWS region."],
    [
      'an invalid service account',
      ':v1',
      { type: 'gcp', serviceAccountJson: SECRET },
      'invalid_argument',
      'The service account of the registry is not a JSON object.',
    ],
    ['an invalid reference', ':v 1', docker, 'invalid_argument', "'<x>' is not a valid image reference"],
  ]
  it.for(wrong)('%s: %s', async ([, tag, credentials, kind, message]) => {
    const reference = `${registry.host}/team/app${tag}`
    const failure: unknown = await runtime.images.pull({ reference, credentials }).catch((err: unknown) => err)
    expect(failure).toMatchObject({ kind, message: message.replace('<x>', reference) })
    expect(inspect(failure, { depth: 10, showHidden: true })).not.toContain(SECRET)
  })

  it('reports an unreachable registry, and stops at an abort', async () => {
    await expect(runtime.images.pull({ reference: '127.0.0.1:1/a:b' })).rejects.toMatchObject({
      kind: 'unavailable',
      message: "the registry of '127.0.0.1:1/a:b' cannot be reached: try again later",
    })
    const silent = new URL(await serve(() => new Promise(() => undefined)))
    const abort = new AbortController()
    const reason = new Error('aborted by the test')
    const pulled = runtime.images.pull({ reference: `${silent.host}/a:b` }, abort.signal)
    abort.abort(reason)
    await expect(pulled).rejects.toBe(reason)
    const hasty = await bench.runtime({ registryTimeoutMs: 300, ecrEndpoint: () => silent.href })
    const reference = `${silent.host}/a:b`
    for (const pull of [{ reference }, { reference, credentials: aws }]) {
      await expect(hasty.images.pull(pull)).rejects.toMatchObject({
        kind: 'unavailable',
        message: `the registry of '${reference}' cannot be reached: try again later`,
      })
    }
  })

  it('downloads an image that the engine does not have, and reports progress', async () => {
    const [repo, tag] = ['sandyard/test-fresh', randomId(8)]
    const file = pack()
    file.entry({ name: 'fresh' }, randomId(64))
    file.finalize()
    await followAnswer(await bench.docker.importImage(Readable.from(file), { repo, tag }))
    await registry.push(bench.docker, `${repo}:${tag}`, 'team/fresh')
    await bench.docker.getImage(`${repo}:${tag}`).remove()
    const lines: string[] = []
    const onLine = (line: string): void => void lines.push(line)
    const { image } = await runtime.images.pull({ reference: `${registry.host}/team/fresh:v1`, credentials: docker, onLine })
    expect(lines).toContainEqual(expect.stringMatching(/^[0-9a-f]{12}: Pull complete$/))
    expect(lines.join()).not.toContain(registry.host)
    expect(await new Inside(await runtime.create(sandboxSpec({ image }))).readFile('/fresh')).toHaveLength(64)
  })

  it('uses a tagged image of the engine as it is, but never an image with one of our names', async () => {
    const facts = await runtime.images.pull({ reference: `docker.io/${tiny}` })
    expect(facts.image).toBe(tiny)
    expect((await runtime.images.list()).map(({ image }) => image)).not.toContain(tiny)
    await runtime.images.remove(tiny)
    expect(await runtime.imageExists(tiny)).toBe(true)
    expect(await runtime.images.pull({ reference: 'e2bdev/base:any' })).toMatchObject({ image: tiny })
    const { image } = await runtime.images.pull({ reference: app, credentials: docker })
    await expect(runtime.images.pull({ reference: image })).rejects.toMatchObject({ kind: 'not_found' })
    const { Id } = await bench.docker.getImage(image).inspect()
    await expect(runtime.images.pull({ reference: Id })).rejects.toMatchObject({ kind: 'invalid_argument' })
    await expect(runtime.images.pull({ reference: Id.slice(7, 19) })).rejects.toMatchObject({
      kind: expect.stringMatching(/unavailable|permission|not_found/),
    })
  })

  it('never uses a digest that a dead process left behind, and removes it', async () => {
    const { Descriptor } = (await bench.docker.getImage(app).distribution({ authconfig: login() })) as { Descriptor: { digest: string } }
    const reference = `${registry.host}/team/app@${Descriptor.digest}`
    const journal = new PullJournal(bench.docker, installation)
    await journal.during(Descriptor.digest, async () => {
      await followAnswer(await bench.docker.pull(reference, { authconfig: login() }))
      await expect(runtime.images.pull({ reference })).rejects.toMatchObject({ kind: 'permission_denied' })
      await journal.sweep()
      expect(await leftNames(), 'a pull under way').toEqual([reference])
      await journal.removeAll()
    })
    expect(await leftNames()).toEqual([])
    const { image } = await runtime.images.pull({ reference, credentials: docker })
    expect(await runtime.imageExists(image)).toBe(true)
  })

  it('keeps an image of the operator under all of its names', async () => {
    await followAnswer(await bench.docker.pull(app, { authconfig: login() }))
    const [digest = ''] = (await leftNames()).filter((name) => name.includes('@'))
    try {
      expect((await runtime.images.pull({ reference: app })).image).toBe(app)
      expect((await runtime.images.pull({ reference: digest })).image).toBe(digest)
      await runtime.images.pull({ reference: app, credentials: docker })
      expect((await leftNames()).sort()).toEqual([app, digest].sort())
    } finally {
      await bench.docker.getImage(app).remove()
    }
    expect(await leftNames()).toEqual([])
  })

  it('refuses an image that is too large and leaves nothing of it', async () => {
    const strict = await bench.runtime({ maxImageSizeBytes: 10 })
    for (const pull of [{ reference: app, credentials: docker }, { reference: tiny }]) {
      await expect(strict.images.pull(pull)).rejects.toMatchObject({
        kind: 'failed_precondition',
        message: expect.stringContaining('is too large'),
      })
    }
    expect(await strict.images.list()).toEqual([])
    expect(await leftNames()).toEqual([])
  })

  it('does not contact a registry of the host by default, not for a Dockerfile either', async () => {
    const byDefault = await bench.runtime({ registries: [] })
    await expect(byDefault.images.pull({ reference: app, credentials: docker })).rejects.toMatchObject({
      kind: 'permission_denied',
      message: `access denied to '${app}': its registry is at an address of the host or a private network, and SANDYARD_REGISTRIES does not list it`,
    })
    expect(await byDefault.images.pull({ reference: tiny })).toMatchObject({ image: tiny })
  })

  it('contacts only the registries that the operator has listed', async () => {
    const closed = await bench.runtime({ registries: ['registry.example:5000'] })
    for (const pull of [{ reference: app, credentials: docker }, { reference: tiny }]) {
      await expect(closed.images.pull(pull)).rejects.toMatchObject({
        kind: 'permission_denied',
        message: `access denied to '${pull.reference}': this server does not use images of that registry (SANDYARD_REGISTRIES)`,
      })
    }
    const open = await bench.runtime({ registries: [registry.host, 'docker.io'] })
    expect(await open.images.pull({ reference: tiny })).toMatchObject({ image: tiny })
    const { image } = await open.images.pull({ reference: app, credentials: docker })
    await open.images.remove(image)
  })

  it('keeps an image until no sandbox runs from it', async () => {
    const { image } = await runtime.images.pull({ reference: app, credentials: docker })
    const spec = sandboxSpec({ image })
    const inside = new Inside(await runtime.create(spec))
    await runtime.images.remove(image)
    await runtime.images.remove(image)
    expect(await runtime.imageExists(image)).toBe(false)
    expect((await runtime.images.list()).map((kept) => kept.image)).not.toContain(image)
    expect(await inside.readFile('/hello')).toContain('COPY')
    await runtime.remove(spec)
  })
})
