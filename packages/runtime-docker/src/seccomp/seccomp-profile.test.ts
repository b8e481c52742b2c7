import { expect, it } from 'vitest'
import { ALLOWED_CALLS, CAPABILITY_CALLS, PROCESSOR_CALLS } from './allowed-calls.ts'
import { ALLOWED_FAMILIES, DENIED_CALLS, DENIED_FAMILIES } from './denied-calls.ts'
import { SECCOMP_FILE, SECCOMP_JSON, SECCOMP_PROFILE } from './seccomp-profile.ts'

it('allows nothing that is to be denied, and names nothing twice', () => {
  const always = [...ALLOWED_CALLS, ...Object.values(PROCESSOR_CALLS).flat()]
  expect(always.filter((name) => DENIED_CALLS.includes(name))).toEqual([])
  expect(new Set(ALLOWED_CALLS).size).toBe(ALLOWED_CALLS.length)
  expect(new Set(DENIED_CALLS).size).toBe(DENIED_CALLS.length)
  const denied = Object.values(DENIED_FAMILIES)
  expect(Object.values(ALLOWED_FAMILIES).filter((family) => denied.includes(family))).toEqual([])
})

it('allows denied calls only to containers with a capability that sandboxes do not have', () => {
  const rules = SECCOMP_PROFILE.syscalls.filter(
    ({ action, names }) => action === 'SCMP_ACT_ALLOW' && names.some((name) => DENIED_CALLS.includes(name)),
  )
  expect(rules.map(({ includes }) => includes?.caps?.length)).toEqual(rules.map(() => 1))
  expect(CAPABILITY_CALLS['CAP_SYS_CHROOT']).toEqual(['chroot'])
})

it('has the result of socketcall before the rules of socket', () => {
  const [first] = SECCOMP_PROFILE.syscalls
  expect(first).toEqual({ names: ['socketcall'], action: 'SCMP_ACT_ERRNO', errnoRet: 38 })
})

it('is small, because it travels with every create', () => {
  expect(SECCOMP_JSON.length).toBeLessThan(12_000)
  expect(SECCOMP_FILE).toMatch(/^sandyard-seccomp-[0-9a-f]{12}\.json$/)
})
