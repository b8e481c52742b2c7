import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DockerRuntime } from '../src/docker-runtime.ts'
import { EngineBench, sandboxSpec } from './support/engine-bench.ts'
import { Inside } from './support/inside.ts'
import { buildTestImage } from './support/test-images.ts'

/** One static program and nothing else: no C library, no file of users. */
const BUSYBOX = `
FROM debian:bookworm-slim AS parts
RUN apt-get update && apt-get install --yes --no-install-recommends busybox-static && rm -rf /var/lib/apt/lists/*
RUN mkdir -p /image/bin && cp /bin/busybox /image/bin/ && ln -s busybox /image/bin/sh
FROM scratch
COPY --from=parts /image/ /
`

/** The C library of Alpine, with a program that is linked to it. */
const MUSL = `
FROM debian:bookworm-slim AS parts
RUN apt-get update && apt-get install --yes --no-install-recommends busybox-static gcc musl musl-dev musl-tools && rm -rf /var/lib/apt/lists/*
RUN mkdir -p /image/bin /image/lib && cp /bin/busybox /image/bin/ && ln -s busybox /image/bin/sh && cp -L /lib/ld-musl-*.so.1 /image/lib/ \\
  && printf '#include <stdio.h>\\nint main(void) { puts("hello from musl"); }\\n' > /hello.c && musl-gcc -o /image/bin/hello /hello.c
FROM scratch
COPY --from=parts /image/ /
`

describe('the daemon of the volume', () => {
  const stack = new AsyncDisposableStack()
  let bench: EngineBench
  let runtime: DockerRuntime

  beforeAll(async () => {
    bench = stack.use(await EngineBench.open())
    runtime = await bench.runtime()
  })
  afterAll(() => stack.disposeAsync())

  it('runs in an image that has nothing but a static busybox', async () => {
    const image = await buildTestImage(bench.docker, 'busybox', BUSYBOX)
    const inside = new Inside(await runtime.create(sandboxSpec({ image })))
    expect(await inside.isHealthy()).toBe(true)
    expect(await inside.run(['/bin/busybox', 'echo', 'hello'])).toMatchObject({ code: 0, stdout: 'hello\n' })
    expect(await inside.sh('/bin/busybox ls /lib')).toMatchObject({ code: 1 })
  })

  it('runs in an image with another C library, whose programs run as well', async () => {
    const image = await buildTestImage(bench.docker, 'musl', MUSL)
    const inside = new Inside(await runtime.create(sandboxSpec({ image })))
    expect(await inside.isHealthy()).toBe(true)
    expect(await inside.run(['/bin/hello'])).toMatchObject({ code: 0, stdout: 'hello from musl\n' })
  })

  it('runs from a snapshot of such an image', async () => {
    const image = await buildTestImage(bench.docker, 'busybox', BUSYBOX)
    const spec = sandboxSpec({ image, daemonEnv: { SANDYARD_TOKEN_HASH: 'of the first' } })
    await new Inside(await runtime.create(spec)).writeFile('/kept', 'yes')
    const snapshot = await runtime.snapshot(spec, spec.sandboxId)
    const { Config } = await bench.docker.getImage(snapshot.image).inspect()
    expect(JSON.stringify(Config)).not.toMatch(/of the first|daemon\.mjs/)
    expect(Config.Labels['sandyard.sandbox-id']).toBe('')
    const copy = new Inside(await runtime.createFrom(snapshot, sandboxSpec({ daemonEnv: { SANDYARD_OTHER: 'x' } })))
    expect(await copy.readFile('/kept')).toBe('yes')
    expect(await copy.environment()).toMatchObject({ SANDYARD_OTHER: 'x' })
    expect((await copy.environment())['SANDYARD_TOKEN_HASH'] ?? '').toBe('')
  })
})
