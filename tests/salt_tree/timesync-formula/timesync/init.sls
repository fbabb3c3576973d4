include:
  - timesync.package
  - timesync.config
  - timesync.service
