import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { randomId } from '@sandyard/kit/ids/ids'
import type { ImageFacts } from '@sandyard/runtime/image-store'
import type { SandboxSpec } from '@sandyard/runtime/types'
import type { DockerRuntime } from '../src/docker-runtime.ts'
import { LABEL } from '../src/labels.ts'
import { EngineBench, sandboxSpec } from './support/engine-bench.ts'
import { buildTestImage } from './support/test-images.ts'
import { Inside } from './support/inside.ts'

const installation = `test-${randomId(8)}`

describe('building a Dockerfile', () => {
  const stack = new AsyncDisposableStack()
  let bench: EngineBench
  let runtime: DockerRuntime
  let within: SandboxSpec

  beforeAll(async () => {
    bench = stack.use(await EngineBench.open())
    runtime = await bench.runtime({ installation, pidsLimit: 100 })
    within = sandboxSpec()
    await runtime.create(within)
  })
  afterAll(() => stack.disposeAsync())

  async function build(dockerfile: string, options: { lines?: string[]; signal?: AbortSignal } = {}): Promise<ImageFacts> {
    const onLine = (line: string): void => void options.lines?.push(line)
    return runtime.images.buildDockerfile({ dockerfile, within, force: false, onLine }, options.signal)
  }

  /** Possible leftovers of builds on the engine: containers of steps, and images without a name. */
  async function leftBehind(): Promise<string[]> {
    const label = [`${LABEL.installation}=${installation}`, `${LABEL.role}=dockerfile`]
    const images = await bench.docker.listImages({ filters: JSON.stringify({ label, dangling: ['true'] }) })
    const containers = await bench.docker.listContainers({ all: true, filters: JSON.stringify({ label }) })
    return [...images.map(({ Id }) => Id), ...containers.map(({ Id }) => Id)]
  }

  it('builds stages, arguments and settings, and reports the steps as written in the file', async () => {
    const lines: string[] = []
    const facts = await build(
      [
        '# escape=`',
        'ARG SUITE=bookworm',
        'FROM debian:${SUITE}-slim AS parts',
        'RUN echo made > /made && `',
        '# in between',
        '  echo loud && echo wrong >&2',
        'from debian:${SUITE}-slim',
        'ENV GREETING="hello world" LD_LIBRARY_PATH=/lib/mine',
        'WORKDIR /srv',
        'COPY --from=parts /made /kept',
        'COPY --from=0 ["/made", "/kept too"]',
        'USER 12:34',
        'CMD ["true"]',
        '',
      ].join('\n'),
      { lines },
    )
    expect(facts).toMatchObject({ env: { GREETING: 'hello world', LD_LIBRARY_PATH: '/lib/mine' }, workdir: '/srv', user: '12:34' })
    // The two output streams of a step are not ordered with each other.
    expect(lines.toSorted()).toEqual(
      [
        'Step 1/10 : ARG SUITE=bookworm',
        'Step 2/10 : FROM debian:${SUITE}-slim AS parts',
        'Step 3/10 : RUN echo made > /made &&   echo loud && echo wrong >&2',
        'loud',
        'wrong',
        'Step 4/10 : FROM debian:${SUITE}-slim',
        'Step 5/10 : ENV GREETING="hello world" LD_LIBRARY_PATH=/lib/mine',
        'Step 6/10 : WORKDIR /srv',
        'Step 7/10 : COPY --from=parts /made /kept',
        'Step 8/10 : COPY --from=0 ["/made", "/kept too"]',
        'Step 9/10 : USER 12:34',
        'Step 10/10 : CMD ["true"]',
      ].toSorted(),
    )
    const inside = new Inside(await runtime.create(sandboxSpec({ image: facts.image })))
    expect(await inside.readFile('/kept')).toBe('made\n')
    expect(await inside.readFile('/kept too')).toBe('made\n')
    expect((await runtime.images.list()).map(({ image }) => image)).toContain(facts.image)
    expect(await leftBehind()).toEqual([])
  })

  it('never uses the cache of an earlier build', async () => {
    const dockerfile = 'FROM debian:bookworm-slim\nRUN head -c 16 /dev/urandom | od -An -tx1 > /key\n'
    const keys = []
    for (const _ of [1, 2]) {
      const { image } = await build(dockerfile)
      const spec = sandboxSpec({ image })
      keys.push(await new Inside(await runtime.create(spec)).readFile('/key'))
      await runtime.remove(spec)
      await runtime.images.remove(image)
    }
    expect(keys[0]).not.toBe(keys[1])
  })

  it.for<[string, string, RegExp]>([
    [
      'a command that fails',
      'FROM debian:bookworm-slim\nRUN echo no >&2; exit 3',
      /^The command '\/bin\/sh -c echo no >&2; exit 3' returned a non-zero code: 3$/,
    ],
    ['an unknown instruction', 'FROM debian:bookworm-slim\nRUNN true', /^dockerfile parse error.*RUNN/i],
    ['no FROM', 'RUN true', /^no build stage in current context$/i],
    ['nothing', '', /no instructions/],
    [
      'ADD, which the engine fetches by itself',
      'FROM debian:bookworm-slim\nADD http://127.0.0.1/x /x',
      /^ADD http:\/\/127\.0\.0\.1\/x \/x: /,
    ],
    ['a file of a context', 'FROM debian:bookworm-slim\nCOPY nothing /x', /^COPY failed: .*nothing/],
    ['an absent shell', 'FROM scratch\nRUN true', /no \/bin\/sh/],
    [
      'a directory of the kernel',
      'FROM debian:bookworm-slim\nENV A=/proc\nWORKDIR $A/self/fd/7\nRUN true',
      /^WORKDIR \$A\/self\/fd\/7: a working directory/,
    ],
    ['a trigger that fetches', 'FROM debian:bookworm-slim\nONBUILD ADD http://127.0.0.1/x /x', /^ONBUILD ADD/],
  ])('reports the cause of a failure: %s', async ([, dockerfile, message]) => {
    await expect(build(dockerfile)).rejects.toMatchObject({ kind: 'failed_precondition', message: expect.stringMatching(message) })
    expect(await leftBehind()).toEqual([])
  })

  it('has the working directory that the engine makes of the same text', async () => {
    const dockerfile = [
      'FROM debian:bookworm-slim',
      'ENV A=/one B="two three" C=$A/c',
      'ENV D four  five',
      'ARG E=six',
      'WORKDIR $C/x',
      'WORKDIR "$B"/${NONE:-seven}${A:+eight}',
      "WORKDIR 'it$A'/n\\ine",
      'WORKDIR ../${D}/$E/t\\"en',
      '',
    ].join('\n')
    const plain = await buildTestImage(bench.docker, 'workdir', dockerfile)
    const { workdir } = await build(dockerfile)
    expect(workdir).toBe((await bench.docker.getImage(plain).inspect()).Config.WorkingDir)
    expect(workdir).toBe('/c/x/two three/seveneight/it$A/four  five/six/t"en')
  })

  it('starts from no image whose working directory is one of the kernel', async () => {
    const image = await buildTestImage(bench.docker, 'leaking', 'FROM scratch\nWORKDIR /proc/self/fd/7\n')
    const refusal = { kind: 'failed_precondition', message: expect.stringMatching(/working directory cannot be in .*\/proc\/self\/fd\/7$/) }
    await expect(runtime.images.pull({ reference: image })).rejects.toMatchObject(refusal)
    await expect(build(`FROM ${image}\nRUN true`)).rejects.toMatchObject(refusal)
  })

  it.for<[string, (id: string) => string]>([
    ['FROM', (id) => `FROM ${id}`],
    ['FROM with a variable', (id) => `ARG A=${id}\nFROM \${A:-x}`],
    ['COPY --from', (id) => `FROM scratch\nCOPY --from=${id} / /`],
    ['COPY --from in the stage of that name', (id) => `FROM scratch AS x${id}\nFROM scratch AS a${id}\nCOPY --from=${id} / /`],
    ['COPY --from behind another separator', (id) => `FROM scratch\nCOPY --chown=0\u0085--from=${id} / /`],
    ['FROM behind another space', (id) => `FROM scratch\n\u0085FROM ${id}`],
  ])('does not accept a prefix of an image id: %s', async ([, dockerfileOf]) => {
    const { Id } = await bench.docker.getImage('debian:bookworm-slim').inspect()
    await expect(build(dockerfileOf(Id.slice('sha256:'.length, 'sha256:'.length + 12)))).rejects.toMatchObject({
      kind: expect.stringMatching(/^(?:not_found|unavailable|permission_denied|failed_precondition)$/),
    })
  })

  it('applies the limits of the sandbox to the steps', async () => {
    const lines: string[] = []
    const script =
      'echo core $(ulimit -Hc); cat /sys/fs/cgroup/memory/memory.limit_in_bytes; i=0; while [ $i -lt 120 ]; do sleep 20 & i=$((i+1)); done; echo all'
    await expect(build(`FROM debian:bookworm-slim\nRUN ${script}`, { lines })).rejects.toMatchObject({ kind: 'failed_precondition' })
    expect(lines).toContain('core 0')
    expect(lines).toContain(String(256 * 1024 ** 2))
    expect(lines.join('\n')).toMatch(/cannot fork/i)
    expect(lines).not.toContain('all')
  })

  it('ends the step of an aborted build and leaves nothing behind', async () => {
    const abort = new AbortController()
    const reason = new Error('aborted by the test')
    const lines: string[] = []
    const built = build('FROM debian:bookworm-slim AS a\nRUN echo 1 > /1\nFROM debian:bookworm-slim\nRUN echo begun; sleep 600', {
      lines,
      signal: abort.signal,
    })
    built.catch(() => undefined)
    await pollUntil({ what: 'the step', timeoutMs: 60_000, everyMs: 20 }, () => (lines.includes('begun') ? true : undefined))
    abort.abort(reason)
    await expect(built).rejects.toBe(reason)
    expect(await leftBehind()).toEqual([])
    await expect(build('FROM debian:bookworm-slim', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  })

  it('needs a running sandbox', async () => {
    const absent = sandboxSpec()
    const request = { dockerfile: 'FROM debian:bookworm-slim', force: true }
    await expect(runtime.images.buildDockerfile({ ...request, within: absent })).rejects.toMatchObject({ kind: 'not_found' })
    const frozen = sandboxSpec()
    await runtime.create(frozen)
    await runtime.pause(frozen, 'memory')
    await expect(runtime.images.buildDockerfile({ ...request, within: frozen })).rejects.toMatchObject({ kind: 'failed_precondition' })
    await runtime.remove(frozen)
  })
})
