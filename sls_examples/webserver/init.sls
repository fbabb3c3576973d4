include:
  - .package
  - .pages
  - .config
  - .service
  - .report
