import { expect, it } from 'vitest'
import { compareProfiles, type Profile } from './compare-profiles.ts'

const ALLOW = 'SCMP_ACT_ALLOW'
const SUBJECT = { capabilities: ['CAP_SYS_CHROOT'], architecture: 'amd64' }

it('names what only one profile allows to the container', () => {
  const ours: Profile = {
    syscalls: [
      { names: ['read', 'chroot', 'clone'], action: ALLOW },
      { names: ['socket'], action: ALLOW, args: [{ value: 1 }] },
      { names: ['mount'], action: ALLOW, includes: { caps: ['CAP_SYS_ADMIN'] } },
    ],
  }
  const theirs: Profile = {
    syscalls: [
      { names: ['read', 'bpf'], action: ALLOW, args: null },
      { names: ['clone'], action: ALLOW, excludes: { caps: ['CAP_SYS_CHROOT'] } },
      { names: ['clone3'], action: 'SCMP_ACT_ERRNO' },
      { names: ['chroot'], action: ALLOW, includes: { caps: ['CAP_SYS_CHROOT'], arches: ['amd64'] } },
      { names: ['set_tls'], action: ALLOW, includes: { arches: ['arm64'] } },
      { names: ['socket'], action: ALLOW, args: [{ value: 1 }] },
      { names: ['socket'], action: ALLOW, args: [{ value: 2 }] },
    ],
  }
  expect(compareProfiles(ours, theirs, SUBJECT)).toEqual([
    { call: 'bpf', ours: 'never', theirs: 'always' },
    { call: 'clone', ours: 'always', theirs: 'never' },
    { call: 'socket', ours: '[{"value":1}]', theirs: '[{"value":1}] or [{"value":2}]' },
  ])
})
