import { expect, it } from 'vitest'
import { SYSTEM_PATHS, withDefaults } from './system-paths.ts'

it('keeps what the engine masks by itself', () => {
  const defaults = { masked: ['/proc/keys', '/sys/devices/system/cpu/cpu0/thermal_throttle'], readOnly: ['/proc/new'] }
  const { masked, readOnly } = withDefaults(SYSTEM_PATHS, defaults)
  expect(masked).toEqual([...SYSTEM_PATHS.masked, '/sys/devices/system/cpu/cpu0/thermal_throttle'].sort())
  expect(readOnly).toEqual([...SYSTEM_PATHS.readOnly, '/proc/new'].sort())
})
