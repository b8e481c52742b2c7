import { describe, expect, it } from 'vitest'
import { parseApiConfig } from './config.ts'

describe('parseApiConfig', () => {
  it('derives the settings that are absent', () => {
    const config = parseApiConfig({ SANDYARD_PROXY_PORT: '4002' })
    expect(config.domain).toBe('localhost:4002')
    expect(config.limits.maxLifetimeSeconds).toBe(86_400)
    expect(config.limits.concurrentSandboxes).toBeGreaterThanOrEqual(20)
    expect(config.adminToken).toBeUndefined()
    expect(config.teamPublicNames).toBe(false)
    expect(config.http.rateLimits.size).toBe(0)
    expect(config.http.failedAuthLimit).toEqual({ rate: 20, periodSeconds: 1, burst: 1000 })
    expect(config.builds).toMatchObject({ apiUrl: undefined, timeoutMs: 3_600_000, templates: { concurrentBuilds: 20 } })
    expect(config.builds.width).toBeGreaterThanOrEqual(1)
  })

  it('uses the settings that are given', () => {
    const config = parseApiConfig({
      SANDYARD_DOMAIN: 'sandboxes.test',
      SANDYARD_MAX_SANDBOXES: '3',
      SANDYARD_MAX_SANDBOX_LIFETIME: '90m',
      SANDYARD_RATE_LIMITS: 'createSandboxV2=10/60:20, getSandbox=5:5',
      SANDYARD_ADMIN_TOKEN: 'hush',
      SANDYARD_API_URL: 'https://api.sandboxes.test/',
      SANDYARD_UPLOADS_DIR: '/srv/uploads',
      SANDYARD_BUILD_WIDTH: '3',
    })
    expect(config.builds).toMatchObject({ apiUrl: 'https://api.sandboxes.test', uploadsDir: '/srv/uploads', width: 3 })
    expect(config).toMatchObject({ domain: 'sandboxes.test', limits: { concurrentSandboxes: 3, maxLifetimeSeconds: 5400 } })
    expect(config.http.rateLimits.get('createSandboxV2')).toEqual({ rate: 10, periodSeconds: 60, burst: 20 })
    expect(config.http.rateLimits.get('getSandbox')).toEqual({ rate: 5, periodSeconds: 1, burst: 5 })
    expect(JSON.stringify(config)).not.toContain('hush')
  })

  it('reports every wrong setting at once', () => {
    const environment = {
      SANDYARD_MAX_SANDBOXES: '0',
      SANDYARD_MAX_SANDBOX_LIFETIME: '25h',
      SANDYARD_METRICS_MAX_SANDBOXES: '10001',
      SANDYARD_RATE_LIMITS: 'nothing=1/1:1,getSandbox=0/1:1,getSandbox',
      SANDYARD_FAILED_AUTH_LIMIT: 'many',
      SANDYARD_TRUSTED_PROXIES: '10.0.0.0/8,fd00::1,10.0.0.0/33',
      SANDYARD_BUILD_WIDTH: '0',
      SANDYARD_BUILD_TIMEOUT: '0s',
      SANDYARD_API_URL: 'nowhere',
      SANDYARD_TEAM_LOG_SIZE: '1MiB',
    }
    expect(() => parseApiConfig(environment)).toThrow(
      /MAX_SANDBOXES must be at least 1[\s\S]*LIFETIME must be between 1s and 24h[\s\S]*METRICS_MAX_SANDBOXES must be between 0 and 10000[\s\S]*"nothing=1\/1:1"[\s\S]*"getSandbox=0\/1:1"[\s\S]*"getSandbox"[\s\S]*FAILED_AUTH_LIMIT must[\s\S]*TRUSTED_PROXIES has "10.0.0.0\/33"[\s\S]*BUILD_WIDTH must[\s\S]*BUILD_TIMEOUT must[\s\S]*API_URL must[\s\S]*TEAM_LOG_SIZE must/,
    )
  })
})
