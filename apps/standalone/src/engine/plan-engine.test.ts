import { describe, expect, it } from 'vitest'
import { distributionFamily, type HostFacts } from './host-facts.ts'
import { planEngine, type EngineQuestion } from './plan-engine.ts'

const DEBIAN: HostFacts = { platform: 'linux', isRoot: true, family: 'debian', hasDockerd: false, hasSystemd: false }
const QUESTION: EngineQuestion = {
  ping: { kind: 'silent', reason: 'connect ENOENT' },
  host: DEBIAN,
  address: '/var/run/docker.sock',
  isAddressGiven: false,
  isExternal: false,
}

describe('planEngine', () => {
  it('installs the engine on a bare Debian as root, and starts an installed one', () => {
    expect(planEngine(QUESTION).act).toBe('install-and-start')
    expect(planEngine({ ...QUESTION, host: { ...DEBIAN, hasDockerd: true } }).act).toBe('start')
    expect(planEngine({ ...QUESTION, host: { ...DEBIAN, hasDockerd: true, family: 'other' } }).act).toBe('start')
  })

  it.each<[string, Partial<EngineQuestion>, RegExp]>([
    ['a socket that is closed to this user', { ping: { kind: 'denied' } }, /group "docker"/],
    ['an engine that hangs', { ping: { kind: 'stuck' } }, /does not answer them: restart it/],
    ['an engine that DOCKER_HOST names', { isAddressGiven: true, address: 'tcp://10.0.0.1:2375' }, /tcp:\/\/10\.0\.0\.1:2375.*DOCKER_HOST/],
    ['a forbidden start', { isExternal: true }, /SANDYARD_ENGINE=external/],
    ['an ordinary user', { host: { ...DEBIAN, isRoot: false } }, /sudo apt-get install docker\.io/],
    ['an ordinary user with Docker', { host: { ...DEBIAN, isRoot: false, hasDockerd: true } }, /sudo systemctl start docker/],
    ['another distribution', { host: { ...DEBIAN, family: 'other' } }, /install Docker/],
    ['another system', { host: { ...DEBIAN, platform: 'darwin' } }, /Docker Desktop/],
  ])('says what to do about %s', (_, change, sentence) => {
    const plan = planEngine({ ...QUESTION, ...change })
    expect(plan.act === 'fail' ? plan.sentence : plan.act).toMatch(sentence)
  })
})

describe('distributionFamily', () => {
  it.each([
    ['ID=debian\n', 'debian'],
    ['NAME="Ubuntu"\nID=ubuntu\nID_LIKE=debian\n', 'debian'],
    ['ID="linuxmint"\nID_LIKE="ubuntu debian"\n', 'debian'],
    ['ID=fedora\nHOME_URL="https://debian.example"\n', 'other'],
    ['', 'other'],
  ])('of %j', (osRelease, family) => expect(distributionFamily(osRelease)).toBe(family))
})
