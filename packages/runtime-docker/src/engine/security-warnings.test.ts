import { expect, it } from 'vitest'
import { SECCOMP_FILE } from '../seccomp/seccomp-profile.ts'
import type { EngineFacts } from './engine-facts.ts'
import { securityWarnings, takesProfile } from './security-warnings.ts'

const SAFE: EngineFacts = {
  version: '29.6.0',
  runc: { version: '1.4.0' },
  architecture: 'x86_64',
  ociRuntime: 'runc',
  hasEngineResolver: true,
  cgroups: { driver: 'systemd', version: '2' },
  seccomp: { isSupported: true, defaultProfile: `/etc/docker/${SECCOMP_FILE}` },
  host: { processors: 4, memoryBytes: 16 * 1024 ** 3 },
}

it('has no warning for a new engine with the profile of sandboxes', () => {
  expect(securityWarnings(SAFE)).toEqual([])
  expect(takesProfile(SAFE)).toBe(true)
})

it.for<[string, Partial<EngineFacts>, RegExp]>([
  [
    'an old runc',
    { runc: { version: '1.1.5+ds1' } },
    /^runc 1\.1\.5\+ds1 has known flaws: CVE-2024-21626 \(a working directory .* fixed in 1\.1\.12\), .*CVE-2025-31133/,
  ],
  ['an old engine', { version: '24.0.8' }, /^The Docker engine 24\.0\.8 has known flaws: CVE-2024-24557/],
  [
    'its own profile',
    { seccomp: { isSupported: true, defaultProfile: 'builtin' } },
    /RUN steps.*\("builtin"\).*They may open AF_PACKET and AF_XDP sockets, which[^;]*\. Start/,
  ],
  ['no profile', { seccomp: { isSupported: true, defaultProfile: 'unconfined' } }, /RUN steps.*They may make every system call\./],
  [
    'a profile of the operator',
    { seccomp: { isSupported: true, defaultProfile: '/etc/x.json' } },
    /They may make the system calls that \/etc\/x\.json allows/,
  ],
  [
    'an earlier profile of ours',
    { seccomp: { isSupported: true, defaultProfile: '/etc/sandyard-seccomp-000000000000.json' } },
    /RUN steps/,
  ],
  ['another processor', { architecture: 's390x' }, /no seccomp profile of sandboxes for s390x/],
])('warns of an engine with %s', ([, change, text]) => {
  expect(securityWarnings({ ...SAFE, ...change })).toEqual([expect.stringMatching(text)])
})

it('warns twice of an engine without seccomp, which takes no profile', () => {
  const facts = { ...SAFE, seccomp: { isSupported: false, defaultProfile: 'unconfined' } }
  expect(securityWarnings(facts)).toEqual([expect.stringMatching(/has no seccomp/), expect.stringMatching(/every system call/)])
  expect(takesProfile(facts)).toBe(false)
})

it('names what the own profile of an old engine allows', () => {
  const [, text] = securityWarnings({ ...SAFE, version: '20.10.24+dfsg1', seccomp: { isSupported: true, defaultProfile: 'default' } })
  expect(text).toMatch(/AF_PACKET.*AF_VSOCK.*io_uring.*AF_ALG/)
})
