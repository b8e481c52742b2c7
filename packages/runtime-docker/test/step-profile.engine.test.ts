import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type Docker from 'dockerode'
import { expect, it } from 'vitest'
import { connectEngine } from '../src/engine/connect-engine.ts'
import { readEngineFacts } from '../src/engine/engine-facts.ts'
import { followAnswer } from '../src/engine/follow-answer.ts'
import { securityWarnings } from '../src/engine/security-warnings.ts'
import { packContext } from '../src/images/build-context.ts'
import { SECCOMP_FILE, SECCOMP_JSON } from '../src/seccomp/seccomp-profile.ts'
import { DEBIAN, ENGINE } from './support/engine-bench.ts'
import { secondEngineIsAbsent, startSecondEngine } from './support/second-engine.ts'

const AF = { INET: 2, PACKET: 17, VSOCK: 40 }
const STEP = Object.entries(AF).map(
  ([name, family]) => `perl -e 'print "${name} ", syscall(41, ${family}, 3, 0) < 0 && $! == 1 ? "denied" : "not denied", "\\n"'`,
)

it('denies a RUN step what sandboxes are denied, on an engine that has their profile as its default', async (context) => {
  const reason = process.arch === 'x64' ? secondEngineIsAbsent() : `absent here: the numbers of system calls for ${process.arch}`
  if (reason !== undefined) return context.skip(reason)
  await using stack = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'sandyard-profile-'))
  stack.defer(() => rm(folder, { recursive: true }))
  const file = join(folder, SECCOMP_FILE)
  await writeFile(file, SECCOMP_JSON)
  const first = await connectEngine(ENGINE)
  const { docker } = stack.use(await startSecondEngine(['--seccomp-profile', file]))
  await followAnswer(await docker.loadImage(await first.getImage(DEBIAN).get()))

  // RUN steps have NET_RAW. Without it the kernel refuses AF_INET with this type too.
  expect(await runStep(docker)).toEqual(['INET not denied', 'PACKET denied', 'VSOCK denied'])
  expect((await warningsOf(docker)).filter((text) => text.includes('RUN steps'))).toEqual([])

  const { seccomp } = await readEngineFacts(first, undefined)
  if (seccomp.defaultProfile !== 'default' && seccomp.defaultProfile !== 'builtin') return
  expect(await runStep(first)).toContain('PACKET not denied')
  expect(await warningsOf(first)).toContainEqual(expect.stringMatching(/RUN steps.*AF_PACKET and AF_XDP sockets/))
})

async function warningsOf(docker: Docker): Promise<string[]> {
  return securityWarnings(await readEngineFacts(docker, undefined))
}

/** The lines that the probe prints in a step. */
async function runStep(docker: Docker): Promise<string[]> {
  const lines: string[] = []
  const dockerfile = `FROM ${DEBIAN}\nRUN ${STEP.join('; ')}\n`
  const options = { version: '1', nocache: true, rm: true, forcerm: true, networkmode: 'none', t: 'sandyard/test-step-profile' } as const
  await followAnswer(await docker.buildImage(packContext([{ name: 'Dockerfile', bytes: Buffer.from(dockerfile) }]), options), (news) => {
    if (typeof news.stream === 'string') lines.push(...news.stream.split('\n'))
  })
  await docker.getImage('sandyard/test-step-profile').remove()
  return lines.filter((line) => /^[A-Z]+ (?:not )?denied$/.test(line))
}
