import { env, type ConfigOf, type ConfigSchema } from '@sandyard/kit/config/parse-config'

/** The settings that bound the starts of a server. */
export const ADMISSION_SETTINGS = {
  startWidth: env.count('SANDYARD_START_WIDTH', {
    default: undefined,
    doc: 'sandboxes that this server has the engine start at once; others wait for their turn. Default: 8 for each processor of its machine',
  }),
  waitingStarts: env.count('SANDYARD_MAX_WAITING_STARTS', {
    default: 1024,
    doc: 'starts that wait for their turn or for memory, half of them of one team',
  }),
  shortageWait: env.duration('SANDYARD_SHORTAGE_WAIT', {
    default: 5000,
    doc: 'how long a start waits while the host of the engine is short of memory or disk; then it is refused',
  }),
  memoryReserve: env.size('SANDYARD_HOST_MEMORY_RESERVE', {
    default: undefined,
    doc: 'memory of the host of the engine that starts leave free. Default: 4 % of it, between 256 MiB and 2 GiB',
  }),
  diskReserve: env.size('SANDYARD_HOST_DISK_RESERVE', {
    default: 1024 ** 3,
    doc: 'free disk of the engine below which no sandbox starts',
  }),
} satisfies ConfigSchema

export interface AdmissionConfig {
  /** Undefined: as many for each processor of the host. */
  readonly width: number | undefined
  readonly places: number
  readonly shortageWaitMs: number
  /** Undefined: a share of the memory of the host. */
  readonly memoryReserveBytes: number | undefined
  readonly diskReserveBytes: number
}

export function admissionOf(settings: ConfigOf<typeof ADMISSION_SETTINGS>): AdmissionConfig {
  return {
    width: settings.startWidth,
    places: settings.waitingStarts,
    shortageWaitMs: settings.shortageWait,
    memoryReserveBytes: settings.memoryReserve,
    diskReserveBytes: settings.diskReserve,
  }
}
