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
    doc: 'Public URL of the API: base of the upload URLs in answers (default: the host of the request) and issuer of identity tokens (https://api.<domain>).',
  }),
  uploadsDir: env.text('SANDYARD_UPLOADS_DIR', {
    default: undefined,
    doc: 'Folder of the archives for COPY steps, shared by all servers; default: `uploads` in the data directory.',
  }),
  uploadLimit: env.size('SANDYARD_UPLOAD_LIMIT', { default: GIB, doc: 'Largest size of an archive for a COPY step.' }),
  uploadUnpackedLimit: env.size('SANDYARD_UPLOAD_UNPACKED_LIMIT', {
    default: 8 * GIB,
    doc: 'Largest unpacked size of an uploaded archive.',
  }),
  buildWidth: env.integer('SANDYARD_BUILD_WIDTH', {
    default: undefined,
    doc: 'Builds that this server runs at once. Default: the number of its processors, at least 2.',
  }),
  buildTimeout: env.duration('SANDYARD_BUILD_TIMEOUT', { default: HOUR_MS, doc: 'Longest duration of a build.' }),
  buildCacheLifetime: env.duration('SANDYARD_BUILD_CACHE_LIFETIME', {
    default: 7 * 24 * HOUR_MS,
    doc: 'How long unused layers and uploads are kept; at least one hour longer than the longest build.',
  }),
  maxTemplates: env.count('SANDYARD_MAX_TEMPLATES', { default: 1000, doc: 'Templates of a team; snapshots are none.' }),
  maxBuilds: env.integer('SANDYARD_MAX_BUILDS', { default: 20, doc: 'Registered and running builds of a team at once.' }),
  maxCpuCount: env.integer('SANDYARD_MAX_CPU_COUNT', { default: 8, doc: 'Most processors of a template.' }),
  maxMemory: env.size('SANDYARD_MAX_MEMORY', { default: 8096 * MIB, doc: 'Most memory of a template.' }),
  templateDisk: env.size('SANDYARD_TEMPLATE_DISK', {
    default: 10 * GIB,
    doc: 'Disk size of templates; enforced where the storage driver supports it.',
  }),
  maxDisk: env.size('SANDYARD_MAX_DISK', {
    default: undefined,
    doc: 'Largest disk that a template may ask for. Default: 25000 MiB more than SANDYARD_TEMPLATE_DISK.',
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

/** Limits of the templates of a team (control-plane.md 3.2). */
export interface TemplateLimits {
  /** Without snapshots. */
  readonly maxTemplates: number
  readonly concurrentBuilds: number
  readonly maxCpuCount: number
  readonly maxMemoryMib: number
  /** Of a template that asks for none. */
  readonly diskMib: number
  readonly maxDiskMib: number
}

/** What a template may have besides the disk that every one gets (control-plane.md 3.2). */
const FURTHER_DISK = 25_000 * MIB

/** Checks the settings. Adds a message for each wrong one to `problems`. */
export function checkBuildSettings(settings: ConfigOf<typeof BUILD_SETTINGS>, problems: string[]): BuildConfig {
  const { buildWidth, buildTimeout, maxBuilds, maxCpuCount, apiUrl } = settings
  if (buildWidth !== undefined && buildWidth < 1) problems.push('SANDYARD_BUILD_WIDTH must be at least 1')
  if (buildTimeout < 1000) problems.push('SANDYARD_BUILD_TIMEOUT must be at least 1s')
  if (maxBuilds < 1) problems.push('SANDYARD_MAX_BUILDS must be at least 1')
  if (maxCpuCount < 1) problems.push('SANDYARD_MAX_CPU_COUNT must be at least 1')
  if (settings.maxDisk !== undefined && settings.maxDisk < MIB) problems.push('SANDYARD_MAX_DISK must be at least 1MiB')
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
      maxTemplates: settings.maxTemplates,
      concurrentBuilds: maxBuilds,
      maxCpuCount,
      maxMemoryMib: Math.floor(settings.maxMemory / MIB),
      diskMib: Math.floor(settings.templateDisk / MIB),
      maxDiskMib: Math.floor((settings.maxDisk ?? settings.templateDisk + FURTHER_DISK) / MIB),
    },
  }
}
