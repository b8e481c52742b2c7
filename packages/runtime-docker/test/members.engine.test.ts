import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { randomId } from '@sandyard/kit/ids/ids'
import { DEFAULT_EGRESS, type SandboxEndpoint } from '@sandyard/runtime/types'
import type { DockerRuntime } from '../src/docker-runtime.ts'
import { LABEL, networkName } from '../src/labels.ts'
import { sandboxSpec } from './support/engine-bench.ts'
import { onHost } from './support/host-shell.ts'
import { Inside } from './support/inside.ts'
import { buildTestImage } from './support/test-images.ts'
import { openOutsideBench, type OutsideBench } from './support/outside-bench.ts'
import type { Bystander } from './support/outside-world.ts'

const installation = `test-${randomId(8)}`
const project = `project-${randomId(8)}`
const OPENED = { openPrivate: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'] }

describe('members of the sandbox network', () => {
  const stack = new AsyncDisposableStack()
  let opened: OutsideBench
  let runtime: DockerRuntime
  let member: Bystander
  let sandbox: SandboxEndpoint
  let inside: Inside

  beforeAll(async () => {
    // The operator has opened all private networks: those of the control plane stay closed.
    opened = await openOutsideBench(stack, { installation, networkMembers: project, ...OPENED })
    ;({ runtime } = opened)
    member = await opened.world.bystander('bridge', { [LABEL.member]: project })
    sandbox = await runtime.create(sandboxSpec({ image: opened.image, egress: DEFAULT_EGRESS }))
    inside = new Inside(sandbox)
  })
  afterAll(() => stack.disposeAsync())

  const onNetwork = async ({ container }: Bystander): Promise<string | undefined> => {
    const { NetworkSettings } = await container.inspect()
    return NetworkSettings.Networks[networkName(installation)]?.IPAddress || undefined
  }
  const reaches = (from: Bystander): Promise<true> =>
    pollUntil({ what: 'a connection to the sandbox', timeoutMs: 20_000, everyMs: 100 }, async () =>
      (await from.inside.dial(sandbox.host, sandbox.daemonPort)) === 'open' ? true : undefined,
    )
  const port = 49_983

  it('join it and connect to sandboxes, which cannot connect to them', async () => {
    expect(await reaches(member)).toBe(true)
    const address = (await onNetwork(member)) ?? ''
    expect(await member.inside.dial(address, port), 'the member serves there').toBe('open')
    expect(await inside.dial(address, port)).not.toBe('open')
    expect(await inside.dial(member.address, port), 'its other network').not.toBe('open')
    // The frames go to the member itself, past the host.
    expect((await inside.sh(`ip route add ${address} dev eth0 2>&1; ping -c 1 -W 1 ${address}`)).code).not.toBe(0)
  })

  it('are registered again after a restart, and after the rules were deleted', async () => {
    await member.container.restart({ t: 0 })
    expect(await reaches(member)).toBe(true)
    await onHost(opened.bench.docker, opened.image, `nft delete table bridge ${networkName(installation)}`)
    expect(await reaches(member)).toBe(true)
    expect(
      await pollUntil({ what: 'the sandbox', timeoutMs: 20_000, everyMs: 100 }, async () => (await inside.isHealthy()) || undefined),
    ).toBe(true)
  })

  it('are not containers whose image has the label, sandboxes included', async () => {
    const image = await buildTestImage(
      opened.bench.docker,
      'claims-to-be-a-member',
      `FROM ${opened.image}\nLABEL ${LABEL.member}=${project}`,
    )
    // Its label is another one in each run.
    stack.defer(() => opened.bench.docker.getImage(image).remove({ force: true }))
    const container = await opened.bench.docker.createContainer({ Image: image, Entrypoint: ['sleep', '600'], Cmd: [] })
    stack.defer(() => container.remove({ force: true }))
    await container.start()
    const spec = sandboxSpec({ image, egress: DEFAULT_EGRESS })
    const claiming = new Inside(await runtime.create(spec))
    const last = await opened.world.bystander('bridge', { [LABEL.member]: project })
    await reaches(last)
    expect(Object.keys((await container.inspect()).NetworkSettings.Networks)).not.toContain(networkName(installation))
    expect(await claiming.dial(sandbox.host, sandbox.daemonPort)).not.toBe('open')
    await runtime.remove(spec)
    await last.container.remove({ force: true })
  })

  it('are the only containers that connect to sandboxes, with their own addresses only', async () => {
    const other = await opened.world.bystander('bridge', { [LABEL.member]: 'another-project' })
    await opened.bench.docker.getNetwork(networkName(installation)).connect({ Container: other.container.id })
    expect(await reaches(member)).toBe(true)
    expect(await other.inside.dial(sandbox.host, sandbox.daemonPort)).not.toBe('open')
    const address = (await onNetwork(member)) ?? ''
    await other.container.stop({ t: 0 })
    await member.container.stop({ t: 0 })
    // Another sandbox may get the address of a member that has ended: it has no rights of a member.
    const next = await Promise.all([1, 2, 3].map(() => runtime.create(sandboxSpec({ image: opened.image, egress: DEFAULT_EGRESS }))))
    for (const endpoint of next) expect(await new Inside(endpoint).dial(sandbox.host, sandbox.daemonPort)).not.toBe('open')
    expect(
      next.map(({ host }) => host),
      'one of them has the address',
    ).toContain(address)
  })
})
