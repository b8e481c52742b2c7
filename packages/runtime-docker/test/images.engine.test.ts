import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureDaemonDist } from '../../../apps/daemon/build/dist.ts'
import type { DockerRuntime } from '../src/docker-runtime.ts'
import { EngineBench, sandboxSpec } from './support/engine-bench.ts'
import { runInRealDaemon, type RealDaemon } from './support/real-daemon.ts'
import { buildTestImage } from './support/test-images.ts'

/** One static program and nothing else: no C library, and only the required user. */
const BUSYBOX = `
FROM debian:bookworm-slim AS parts
RUN apt-get update && apt-get install --yes --no-install-recommends busybox-static && rm -rf /var/lib/apt/lists/*
RUN mkdir -p /image/bin /image/etc && echo 'root:x:0:0:root:/:/bin/sh' > /image/etc/passwd && cp /bin/busybox /image/bin/ && ln -s busybox /image/bin/sh
FROM scratch
COPY --from=parts /image/ /
`

/** The C library of Alpine, with a program that is linked to it. */
const MUSL = `
FROM debian:bookworm-slim AS parts
RUN apt-get update && apt-get install --yes --no-install-recommends busybox-static gcc musl musl-dev musl-tools && rm -rf /var/lib/apt/lists/*
RUN mkdir -p /image/bin /image/etc /image/lib && echo 'root:x:0:0:root:/:/bin/sh' > /image/etc/passwd && cp /bin/busybox /image/bin/ && ln -s busybox /image/bin/sh && cp -L /lib/ld-musl-*.so.1 /image/lib/ \\
  && printf '#include <stdio.h>\\nint main(void) { puts("hello from musl"); }\\n' > /hello.c && musl-gcc -o /image/bin/hello /hello.c
FROM scratch
COPY --from=parts /image/ /
`

describe('the daemon of the project', () => {
  const stack = new AsyncDisposableStack()
  let bench: EngineBench
  let runtime: DockerRuntime

  beforeAll(async () => {
    bench = stack.use(await EngineBench.open())
    runtime = await bench.runtime({ daemonDist: await ensureDaemonDist() })
  })
  afterAll(() => stack.disposeAsync())

  async function start(image: string): Promise<RealDaemon> {
    const spec = sandboxSpec({ image })
    return { spec, endpoint: await runtime.create(spec) }
  }

  it('runs in an image with only a static busybox', async () => {
    const image = await buildTestImage(bench.docker, 'busybox', BUSYBOX)
    expect(await runInRealDaemon(await start(image), '/bin/busybox', ['ls', '/bin'])).toContain('stdout: busybox\nsh\n')
  })

  it('runs in an image with another C library, and so do the programs of the image', async () => {
    const image = await buildTestImage(bench.docker, 'musl', MUSL)
    expect(await runInRealDaemon(await start(image), '/bin/hello')).toContain('stdout: hello from musl\n')
  })

  it('starts again from the files of its sandbox, repeatedly', async () => {
    const spec = sandboxSpec()
    await runInRealDaemon({ spec, endpoint: await runtime.create(spec) }, '/bin/sh', ['-c', 'echo kept > /root/kept'])
    for (const keep of ['files', 'memory', 'files'] as const) {
      const { endpoint } = await runtime.resume(await runtime.pause(spec, keep), { spec, keep: 'memory' })
      expect(await runInRealDaemon({ spec, endpoint }, '/bin/cat', ['/root/kept'])).toContain('stdout: kept\n')
    }
    await runtime.remove(spec)
  })
})
