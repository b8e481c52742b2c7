import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { env, type ConfigOf, type ConfigSchema } from '@sandyard/kit/config/parse-config'

const MIB = 1024 ** 2
const GIB = 1024 ** 3
const HOUR_MS = 3_600_000

/** The settings of templates, builds and uploads. */
export const BUILD_SETTINGS = {
  apiUrl: env.text('SANDYARD_API_URL', {
    default: undefined,
    doc: 'Base of the upload URLs that clients are given; the host that they asked when absent.',
  }),
  uploadsDir: env.text('SANDYARD_UPLOADS_DIR', {
    default: undefined,
    doc: 'Folder of the archives for COPY steps, shared by all servers; `uploads` in the data directory when absent.',
  }),
  uploadLimit: env.size('SANDYARD_UPLOAD_LIMIT', { default: GIB, doc: 'The largest archive that a COPY step may upload.' }),
  uploadUnpackedLimit: env.size('SANDYARD_UPLOAD_UNPACKED_LIMIT', {
    default: 8 * GIB,
    doc: 'The most that an uploaded archive may hold once it is unpacked.',
  }),
  buildWidth: env.integer('SANDYARD_BUILD_WIDTH', {
    default: undefined,
    doc: 'Builds at once on this server; as many as it has processors, and two at least, when absent.',
  }),
  buildTimeout: env.duration('SANDYARD_BUILD_TIMEOUT', { default: HOUR_MS, doc: 'How long a build may take.' }),
  buildCacheLifetime: env.duration('SANDYARD_BUILD_CACHE_LIFETIME', {
    default: 7 * 24 * HOUR_MS,
    doc: 'How long layers and uploads are kept that no build asks for; an hour longer than a build may take at least.',
  }),
  maxBuilds: env.integer('SANDYARD_MAX_BUILDS', { default: 20, doc: 'Builds that a team may have registered or under way at once.' }),
  maxCpuCount: env.integer('SANDYARD_MAX_CPU_COUNT', { default: 8, doc: 'The most processors of a template.' }),
  maxMemory: env.size('SANDYARD_MAX_MEMORY', { default: 8096 * MIB, doc: 'The most memory of a template.' }),
  templateDisk: env.size('SANDYARD_TEMPLATE_DISK', {
    default: 10 * GIB,
    doc: 'The disk of templates, enforced where the storage driver can.',
  }),
} satisfies ConfigSchema

export interface BuildConfig {
  readonly apiUrl: string | undefined
  readonly uploadsDir: string
  readonly uploadLimitBytes: number
  readonly uploadUnpackedLimitBytes: number
  readonly width: number
  readonly timeoutMs: number
  readonly cacheLifetimeMs: number
  readonly templates: TemplateLimits
}

/** What a team may ask of its templates (control-plane.md 3.2). */
export interface TemplateLimits {
  readonly concurrentBuilds: number
  readonly maxCpuCount: number
  readonly maxMemoryMib: number
  readonly diskMib: number
}

/** The checked settings; what is wrong with them is added to `problems`. */
export function checkBuildSettings(settings: ConfigOf<typeof BUILD_SETTINGS>, problems: string[]): BuildConfig {
  const { buildWidth, buildTimeout, maxBuilds, maxCpuCount, apiUrl } = settings
  if (buildWidth !== undefined && buildWidth < 1) problems.push('SANDYARD_BUILD_WIDTH must be at least 1')
  if (buildTimeout < 1000) problems.push('SANDYARD_BUILD_TIMEOUT must be at least 1s')
  if (maxBuilds < 1) problems.push('SANDYARD_MAX_BUILDS must be at least 1')
  if (maxCpuCount < 1) problems.push('SANDYARD_MAX_CPU_COUNT must be at least 1')
  if (apiUrl !== undefined && !URL.canParse(apiUrl)) problems.push('SANDYARD_API_URL must be a URL')
  return {
    apiUrl: apiUrl?.replace(/\/+$/, ''),
    uploadsDir: resolve(settings.uploadsDir ?? './.sandyard/uploads'),
    uploadLimitBytes: settings.uploadLimit,
    uploadUnpackedLimitBytes: settings.uploadUnpackedLimit,
    width: buildWidth ?? Math.max(2, availableParallelism()),
    timeoutMs: buildTimeout,
    cacheLifetimeMs: settings.buildCacheLifetime,
    templates: {
      concurrentBuilds: maxBuilds,
      maxCpuCount,
      maxMemoryMib: Math.floor(settings.maxMemory / MIB),
      diskMib: Math.floor(settings.templateDisk / MIB),
    },
  }
}
