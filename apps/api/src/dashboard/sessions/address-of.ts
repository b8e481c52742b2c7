import type { ApiConfig } from '../../config.ts'
import type { OwnAddress } from '../own-origin.ts'

export function addressOf({ builds, domain }: Pick<ApiConfig, 'builds' | 'domain'>): OwnAddress {
  return { apiUrl: builds.apiUrl, domain }
}
