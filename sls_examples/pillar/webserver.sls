webserver:
  name: example.org
  port: 8080
  workers: 2
  pages:
    index.html: |
      <h1>It works</h1>
    about.html: |
      <h1>About this server</h1>
